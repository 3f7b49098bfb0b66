// Time limits for tests that wait for processes and browsers. A failed test must not keep its file
// from finishing.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** @import { ChildProcess } from 'node:child_process' */

/**
 * Waits for work, and rejects if it takes longer than a limit.
 * @template T
 * @param {number} ms
 * @param {string} what for the message
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function within(ms, what, work) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const over = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms / 1000} s`)), ms);
  });
  try {
    return await /** @type {Promise<T>} */ (Promise.race([work, over]));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Starts a program, and waits for a line of its standard error. A program that does not print it within three minutes is stopped;
 * a Go program then prints its stacks.
 * @param {string} program
 * @param {string[]} args
 * @param {RegExp} line
 * @param {(text: string) => void} [note] is called with each line
 * @returns {Promise<{ child: ChildProcess, match: RegExpExecArray }>}
 */
export async function started(program, args, line, note = () => {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  /** @type {Promise<RegExpExecArray>} */
  const found = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with status ${code}:\n${log}`)));
    createInterface({ input: child.stderr }).on('line', (text) => {
      log += text + '\n';
      note(text);
      const match = line.exec(text);
      if (match) resolve(match);
    });
  });
  try {
    return { child, match: await within(180_000, `the start of ${program}`, found) };
  } catch (error) {
    child.kill('SIGQUIT');
    throw error;
  }
}

/**
 * Exits with status 1 if this process still runs after a time, and prints its active resources. node --test waits
 * without a limit for processes, sockets and servers that a failed test has left behind.
 * @param {number} ms
 */
export function endAfter(ms) {
  const end = () => {
    console.error(`not ended within ${ms / 1000} s, waiting for:`, process.getActiveResourcesInfo());
    process.exit(1);
  };
  setTimeout(end, ms).unref();
}
