/**
 * Returns by URL what marks the debug ID of a script in a resource: see docs/format.md. It is false
 * for a URL that has several. Bundlers and their plugins note IDs in globals, each by the stack of an
 * error that was made in the script: see docs/sdk.md.
 */
export function debugIds() {
  /** @type {Record<string, string | false>} */
  const marks = {};
  try {
    const { _debugIds, _sentryDebugIds } = /** @type {any} */ (globalThis);
    for (const ids of [_debugIds, _sentryDebugIds])
      for (const stack of Object.keys(ids ?? {}).slice(0, 1000)) {
        const url = stack.split(/\n.* \(?|:\d+:\d+/)[1]; // of the innermost call
        const mark = '#debugId=' + `${ids[stack]}`.toLowerCase();
        if (/=[\da-f-]{36}$/.test(mark)) marks[url] = (marks[url] ?? mark) == mark && mark;
      }
  } catch {} // anybody may have written to them
  return marks;
}
