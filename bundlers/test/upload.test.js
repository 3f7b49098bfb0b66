import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build, copyApp } from '../build.js';
import { builds } from '../builds.js';

const run = promisify(execFile);

/** Functions of the apps that have to have their names, whatever a bundler does with them. */
const own = {
  app: ['sortRows', 'Grid', 'RowStore.#index', 'useViewport', 'installListeners'],
  vue: ['climateOf', 'Noise.#step', 'rowsInView', 'loadStations'],
};

/** The names in the answer of `upload --dry-run --format json`. */
const namesOf = ({ scripts }) => scripts.flatMap(({ functions }) => functions.map(({ name }) => name));

for (const which of builds.filter(({ large }) => !large || process.env.ALL)) {
  test(`upload names the functions of ${which.name}`, async () => {
    const upload = process.env.UPLOAD;
    assert.ok(upload, 'UPLOAD does not say where the program upload is; run make test-bundlers');
    const folder = await copyApp(which, `test-${which.name}`);
    const dist = await build(which, folder);
    const { stdout } = await run(upload, ['--dry-run', '--format', 'json', dist], { maxBuffer: 2 ** 28 });
    const names = new Set(namesOf(JSON.parse(stdout)));
    assert.deepEqual(own[which.app].filter((name) => !names.has(name)), [], 'functions without their names');
    await rm(folder, { recursive: true });
  });
}
