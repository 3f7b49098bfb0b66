/**
 * Returns the arguments of encodeTrace for a trace in the JSON envelope of docs/format.md.
 * @param {any} envelope
 * @returns {Parameters<typeof import('../src/encodeTrace.js').encodeTrace>}
 */
export function argumentsOf({ trace, cost, ...envelope }) {
  const { viewId = '', chunk = 0, timeOrigin = 0, samplingShare = 0, labels = {}, spans = [], ua } = envelope;
  const context = {
    ...envelope,
    $viewId: Uint8Array.from(viewId.match(/../g) ?? [], (byte) => parseInt(byte, 16)),
    $chunk: chunk,
    $interval: envelope.interval,
    timeOrigin,
    $share: samplingShare,
    labels: { ...labels, browser: ua && `Chrome ${/Chrome\/(\d+)/.exec(ua)?.[1]}` },
    $spans: spans.map(({ start, end, page, feature, label }) =>
      page ? [start, end, 0, page] : feature ? [start, end, 1, feature] : [start, end, 2, label],
    ),
  };
  const spent = !cost ? [] : [cost.start * 1000, cost.stop * 1000, cost.encode * 1000, cost.bytes, cost.dropped];
  return [trace, context, () => spent];
}
