/**
 * Returns the suffix that marks the debug ID of a script in a resource, by URL: see docs/format.md.
 * It is false for a URL with several IDs. Bundlers and their plugins store IDs in globals, keyed by
 * the stack of an error created in the script: see docs/sdk.md.
 */
export function debugIds() {
  /** @type {Record<string, string | false>} */
  const marks = {};
  try {
    const { _debugIds, _sentryDebugIds } = /** @type {any} */ (globalThis);
    for (const ids of [_debugIds, _sentryDebugIds])
      for (const stack of Object.keys(ids ?? {}).slice(0, 1000)) {
        const url = stack.split(/\n.* \(?|:\d+:\d+/)[1]; // the innermost call
        const mark = '#debugId=' + `${ids[stack]}`.toLowerCase();
        if (/=[\da-f-]{36}$/.test(mark)) marks[url] = (marks[url] ?? mark) == mark && mark;
      }
  } catch {} // other scripts may have changed them
  return marks;
}
