import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { open } from './browser.js';
import { add, differences, expected, json, path, sum } from './outputs.js';

const require = createRequire(import.meta.url);
const release = (name) => require.resolve(`speedscope/dist/release/${name}`);

/**
 * Opens a file in speedscope and returns the result: the file that it saves, in its own format.
 * @param {string} name
 */
async function imported(name) {
  const { page, problems } = await open();
  await page.goto(pathToFileURL(release('index.html')).href);
  await page.setInputFiles('input[type=file]', path(name));
  await page.waitForSelector('canvas');
  const saved = page.waitForEvent('download');
  // It does not signal that it handles keys: on a busy machine this may be after the first drawing.
  for (let done = false; !done;) {
    await page.keyboard.press('Control+s');
    done = await Promise.race([saved.then(() => true), page.waitForTimeout(3000).then(() => false)]);
  }
  const file = JSON.parse(readFileSync(await (await saved).path(), 'utf8'));
  assert.deepEqual(problems, []);
  await page.context().close();
  return file;
}

/** Self times by name, in µs, of one profile of a file in speedscope's format. */
function selfTimes(file, profile) {
  // folded stacks have none
  const unit = { microseconds: 1, milliseconds: 1e3, nanoseconds: 1e-3, none: 1 }[profile.unit];
  assert.ok(unit, profile.unit);
  const self = {};
  // It names anonymous functions in a .cpuprofile by their location, and events of a Chrome trace
  // also by their arguments.
  const name = (frame) =>
    file.shared.frames[frame].name.replace(/^\(anonymous [^{]*$/, '(anonymous)').replace(/ \{.*/, '');
  if (profile.type === 'sampled') {
    profile.samples.forEach((stack, i) => stack.length && add(self, name(stack.at(-1)), profile.weights[i] * unit));
    return self;
  }
  const stack = [];
  let at = profile.startValue;
  for (const event of profile.events) {
    assert.ok(event.at >= at, 'events in time order');
    if (stack.length) add(self, name(stack.at(-1)), (event.at - at) * unit);
    at = event.at;
    if (event.type === 'O') stack.push(event.frame);
    else assert.equal(stack.pop(), event.frame, 'events are nested');
  }
  assert.deepEqual(stack, []);
  return self;
}

/** Names that speedscope does not show as functions. */
const withoutIdle = ({ '(idle)': _, '(root)': __, ...rest }) => rest;

for (const name of ['merged.speedscope.json', 'timed.speedscope.json']) {
  test(`${name} conforms to the schema`, () => {
    const schema = JSON.parse(readFileSync(release('file-format-schema.json'), 'utf8'));
    const validate = new Ajv({ strict: false }).compile(schema);
    assert.ok(validate(json(name)), JSON.stringify(validate.errors));
  });
}

test('merged profiles have the totals of all groups', async () => {
  const file = await imported('merged.speedscope.json');
  assert.deepEqual(
    file.profiles.map((p) => p.name),
    ['page=/charts-chartjs', 'page=/newssite-news-nuxt', 'page=/react-complex'],
  );
  const self = {};
  for (const profile of file.profiles) {
    for (const [name, time] of Object.entries(selfTimes(file, profile))) add(self, name, time);
  }
  assert.deepEqual(differences(self, expected.functions, 0.01), []);
});

for (const [name, want] of [
  ['merged.cpuprofile', expected.functions],
  ['merged.folded', undefined],
  ['timed.speedscope.json', expected.timed.functions],
  ['timed.cpuprofile', expected.timed.functions],
  ['timed.trace.json', expected.timed.functions],
]) {
  test(`${name} has the expected totals`, async () => {
    const file = await imported(name);
    assert.equal(file.profiles.length, 1);
    const self = withoutIdle(selfTimes(file, file.profiles[0]));
    const all = want ?? expected.functions;
    assert.ok(Math.abs(sum(Object.values(self)) - sum(Object.values(all))) < 2, `${sum(Object.values(self))}`);
    if (want) assert.deepEqual(differences(self, want, 2), []);
  });
}
