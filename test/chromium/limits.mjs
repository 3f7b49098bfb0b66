// Limits of time for tests that wait for processes and browsers: a test that fails must not keep its file from ending.

/**
 * Waits for work, and fails if it takes longer than a limit.
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
 * Ends this process with status 1 if it still runs after a time, and prints its active resources. node --test waits
 * without a limit for processes, sockets and servers that a failed test has left.
 * @param {number} ms
 */
export function endAfter(ms) {
  const end = () => {
    console.error(`not ended within ${ms / 1000} s, waiting for:`, process.getActiveResourcesInfo());
    process.exit(1);
  };
  setTimeout(end, ms).unref();
}
