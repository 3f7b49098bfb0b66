import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { started, within } from '../../../test/chromium/limits.mjs';

/**
 * A browser with one tab.
 * @typedef {object} Browser
 * @property {string} version
 * @property {(url: string) => Promise<unknown>} go opens a page, and waits until it is loaded
 * @property {() => Promise<unknown>} back
 * @property {(x: number, y: number) => Promise<unknown>} click at a position, as a user does
 * @property {(expression: string) => Promise<any>} evaluate returns a value that JSON can represent
 * @property {() => Promise<void>} end
 */

/**
 * Moves the pointer to a position and clicks: https://w3c.github.io/webdriver/#actions.
 * @type {(x: number, y: number) => object[]}
 */
const clickAt = (x, y) => [
  {
    type: 'pointer',
    id: 'mouse',
    actions: [
      { type: 'pointerMove', x, y, duration: 0 },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ],
  },
];

/**
 * Starts Firefox, by WebDriver BiDi: https://w3c.github.io/webdriver-bidi/.
 * @returns {Promise<Browser>}
 */
export async function firefox() {
  const profile = await mkdtemp(join(tmpdir(), 'fieldtrie-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const { child, match } = await started('firefox-esr', args, /ws:\/\/\S+/);
  const socket = new WebSocket(`${match[0]}/session`);
  await new Promise((open, failed) => socket.once('open', open).once('error', failed));
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  /** @type {(method: string, params: object) => Promise<any>} */
  const call = async (method, params) => {
    const answer = new Promise((resolve) => waiting.set(++id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error, message } = await within(60_000, method, answer);
    if (error) throw new Error(`${method}: ${error}: ${message}`);
    return result;
  };
  const { capabilities } = await call('session.new', { capabilities: {} });
  const { context } = await call('browsingContext.create', { type: 'tab' });
  return {
    version: capabilities.browserVersion,
    go: (url) => call('browsingContext.navigate', { context, url, wait: 'complete' }),
    back: () => call('browsingContext.traverseHistory', { context, delta: -1 }),
    click: (x, y) => call('input.performActions', { context, actions: clickAt(x, y) }),
    evaluate: async (expression) => {
      const text = `JSON.stringify(${expression})`;
      const { result, exceptionDetails } = await call('script.evaluate', {
        expression: text,
        target: { context },
        awaitPromise: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return result.value && JSON.parse(result.value);
    },
    end: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await within(30_000, 'the end of Firefox', ended).catch(() => child.kill('SIGKILL'));
      await rm(profile, { recursive: true, maxRetries: 5 });
    },
  };
}

/**
 * Starts the MiniBrowser of WebKitGTK, by WebDriver: https://w3c.github.io/webdriver/. It requires
 * a display.
 * @returns {Promise<Browser>}
 */
export async function webkit() {
  const port = 20_000 + (process.pid % 20_000);
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], { stdio: 'ignore' });
  /** @type {(method: string, path: string, body?: object) => Promise<any>} */
  const call = async (method, path, body) => {
    const options = { method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(60_000) };
    const { value } = await (await fetch(`http://127.0.0.1:${port}${path}`, options)).json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  const ready = async () => {
    while (!(await call('GET', '/status').catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  await within(30_000, 'WebKitWebDriver', ready());
  const binary = process.env.MINIBROWSER ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
  const alwaysMatch = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } };
  const { sessionId, capabilities } = await call('POST', '/session', { capabilities: { alwaysMatch } });
  const session = `/session/${sessionId}`;
  return {
    version: capabilities.browserVersion,
    go: (url) => call('POST', `${session}/url`, { url }),
    back: () => call('POST', `${session}/back`, {}),
    click: (x, y) => call('POST', `${session}/actions`, { actions: clickAt(x, y) }),
    evaluate: async (expression) => {
      const text = await call('POST', `${session}/execute/sync`, {
        script: `return JSON.stringify(${expression})`,
        args: [],
      });
      return text && JSON.parse(text);
    },
    end: async () => {
      await call('DELETE', session).catch(() => {});
      driver.kill();
    },
  };
}
