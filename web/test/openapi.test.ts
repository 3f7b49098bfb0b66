// Tests the API with a client that is generated from its description: every operation, with random
// parameters that the description allows. Each response must be in the description.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AxiosResponse } from 'axios';
import { load } from 'js-yaml';
import { type Document, OpenAPIClientAxios, type Operation } from 'openapi-client-axios';
import { Daemon, endAll } from './daemon.ts';
import { sendShop } from './shop.ts';
import { randomOf } from './synthetic.ts';

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 12);

after(endAll);

interface Schema {
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

interface Parameter {
  name: string;
  required?: boolean;
  schema?: Schema;
}

test(`API responses conform to the description (SEED=${seed} ROUNDS=${rounds})`, async () => {
  const budget = { name: 'cart', page: '/cart', metric: 'p75', limit: '100ms', min_views: 10 };
  const daemon = await Daemon.start('--budgets', `FILE:${JSON.stringify({ budgets: [budget] })}`);
  await sendShop(daemon);
  const definition = load(await (await fetch(`${daemon.url}/api/v1/openapi.yaml`)).text()) as Document;
  const api = new OpenAPIClientAxios({
    definition,
    withServer: { url: daemon.url },
    axiosConfigDefaults: { validateStatus: () => true },
  });
  const client = await api.init();
  const ask = (operation: Operation, parameters: Record<string, string | number | boolean>) =>
    client[operation.operationId!]!(
      Object.entries(parameters).map(([name, value]) => ({ name, value: String(value), in: 'query' })),
    ) as Promise<AxiosResponse<unknown>>;
  while ((await ask(api.getOperation('budgets')!, {})).status == 503)
    await new Promise((next) => setTimeout(next, 100)); // not evaluated yet
  const one = await ask(api.getOperation('views')!, { page: '/cart' });
  const { list } = one.data as { list: { id: string }[] };
  /** Values that exist in the store, and values that do not. */
  const texts: Record<string, string[]> = {
    page: ['/cart', '/list', '/none'],
    feature: ['', 'none'],
    release: ['r1', 'r2', 'none'],
    since: ['24h', '7d', '2020-01-01T00:00:00Z'],
    until: ['0s', '1m', ''],
    label: ['device=mobile-low', 'browser=~Chrome.*', 'device!=x'],
    group_by: ['release', 'device', 'page'],
    key: ['device', 'browser'],
    step: ['1h', '24h', '1m'],
    quantiles: ['0.5', '0,0.25,1'],
    id: list.map(({ id }) => id),
    name: ['draw', 'none'],
    resource: ['https://shop.example/app.js'],
    root: ['0123456789abcdef'],
    ask: ['pages?since=24h', 'series?since=1h'],
    seconds: ['30'],
    state: ['open', 'open,resolved', 'none'],
    owner: ['app', 'none'],
  };
  const chance = randomOf(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(chance() * all.length)]!;
  const unknown: string[] = [];
  const drawn = ({ name, schema = {} }: Parameter): string | number | boolean | undefined => {
    if (schema.enum) return pick(schema.enum);
    if (schema.type == 'boolean') return chance() < 0.5;
    if (schema.type == 'integer' || schema.type == 'number') {
      const { minimum = 0, maximum = 1000 } = schema;
      const at = minimum + chance() * (Math.min(maximum, 5000) - minimum);
      return schema.type == 'integer' ? Math.round(at) : at;
    }
    const of = texts[name] ?? texts[name.replace(/^compare_/, '')];
    if (!of) unknown.push(name);
    return of && pick(of);
  };
  const faults: string[] = [];
  const answered: Record<string, number> = {};
  for (const operation of api.getOperations())
    for (let round = 0; round < rounds; round++) {
      const parameters: Record<string, string | number | boolean> = {};
      for (const parameter of (operation.parameters ?? []) as Parameter[]) {
        if (!parameter.required && (round == 0 || chance() < 0.6)) continue;
        const value = drawn(parameter);
        if (value != undefined) parameters[parameter.name] = value;
      }
      const response = await ask(operation, parameters);
      const known = operation.responses?.[response.status] as { content?: Record<string, unknown> } | undefined;
      const type = String(response.headers['content-type'] ?? '').split(';')[0]!;
      const at = `${operation.operationId} ${JSON.stringify(parameters)}: ${response.status} ${type}`;
      if (response.status == 200) answered[operation.operationId!] = (answered[operation.operationId!] ?? 0) + 1;
      if (!known) faults.push(`${at} is not described: ${JSON.stringify(response.data).slice(0, 200)}`);
      else if (known.content && !Object.keys(known.content).some((one) => one == type || one == '*/*'))
        faults.push(`${at}: described are ${Object.keys(known.content)}`);
      if (response.status >= 500) faults.push(`${at}: ${JSON.stringify(response.data).slice(0, 200)}`);
    }
  assert.deepEqual([...new Set(unknown)], [], 'parameters without values for this test');
  assert.deepEqual(faults, []);
  // Changes are detected after days of data; query/api tests the operations with an id of a change.
  const silent = api
    .getOperations()
    .filter(({ operationId, path }) => !path.includes('{') && !answered[operationId!])
    .map(({ operationId }) => operationId);
  assert.deepEqual(silent, [], 'operations without a successful response');
});
