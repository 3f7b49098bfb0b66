import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build, copyApp, root, scriptsOf } from '../build.js';

// Frameworks with server rendering can use the npm package of the browser script.

const run = promisify(execFile);

/** @import { Build } from '../builds.js' */

/**
 * @typedef {object} Rendering
 * @property {string[]} server the arguments of node that start the built app
 * @property {string} prerendered a document that the build writes
 * @property {string[]} expected texts of the page, on all paths
 */

/** @type {(Build & Rendering)[]} */
const frameworks = [
  {
    name: 'next',
    app: 'server/next',
    packages: 'next',
    command: ['next', 'build'],
    dist: '.next/static',
    server: ['node_modules/next/dist/bin/next', 'start', '--port', '0'],
    prerendered: '.next/server/app/built.html',
    expected: ['<p>server: 2,10,30</p>', '<p>client: 42</p>'],
  },
  {
    name: 'nuxt',
    app: 'server/nuxt',
    packages: 'server/nuxt',
    command: ['nuxt', 'build'],
    dist: '.output/public',
    server: ['.output/server/index.mjs'],
    prerendered: '.output/public/built/index.html',
    expected: ['<p>sum: 42</p>'],
  },
];

/** Packs the package with npm and installs it in an app. */
async function install(folder) {
  const sdk = join(root, '../../sdk');
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: sdk });
  await run('tar', ['-xzf', stdout.trim()], { cwd: folder });
  await rename(join(folder, 'package'), join(folder, 'node_modules/fieldtrie'));
}

/**
 * Starts a built app.
 * @param {string[]} args
 * @param {string} folder
 * @returns the app's URL, and a function that stops the app and returns its log
 */
async function serve(args, folder) {
  const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', PORT: '0' };
  const child = spawn(process.execPath, args, { cwd: folder, env });
  const timer = setTimeout(() => child.kill(), 60_000);
  let log = '';
  const ended = new Promise((resolve) => child.on('close', resolve));
  const url = await new Promise((resolve, reject) => {
    ended.then(() => reject(new Error(`the server exited before it printed its address: ${log}`)));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        log += text;
        const [, port] = /http:\/\/\S+:(\d+)\s/.exec(log) ?? [];
        if (port) resolve(`http://localhost:${port}`);
      });
  });
  clearTimeout(timer);
  const stop = async () => {
    child.kill();
    await ended;
    return log;
  };
  return { url, stop };
}

for (const which of frameworks)
  test(`${which.name} renders with the package`, { skip: !process.env.ALL && 'ALL is not set' }, async (t) => {
    const release = 'release-of-the-test';
    Object.assign(process.env, { NEXT_PUBLIC_RELEASE: release, NUXT_PUBLIC_RELEASE: release });
    const folder = await copyApp(which, `test-server-${which.name}`);
    t.after(() => rm(folder, { recursive: true }));
    await install(folder);
    const dist = await build(which, folder);
    const check = (html, path) => {
      for (const text of which.expected) assert.ok(html.includes(text), `no ${text} in ${path}: ${html}`);
    };

    const prerendered = await readFile(join(folder, which.prerendered), 'utf8');
    check(prerendered, which.prerendered);

    // The browser's scripts contain both calls of start(), and the release.
    const scripts = await Promise.all((await scriptsOf(dist)).map((path) => readFile(join(dist, path), 'utf8')));
    const sent = [prerendered, ...scripts].join('\n');
    for (const text of ['https://client.example', 'https://everywhere.example', release])
      assert.ok(sent.includes(text), `no ${text} in scripts`);

    const { url, stop } = await serve(which.server, folder);
    t.after(stop);
    for (const path of ['/built', '/request']) {
      const response = await fetch(url + path);
      assert.equal(response.status, 200);
      check(await response.text(), path);
    }
    assert.doesNotMatch(await stop(), /error|not defined/i);
  });
