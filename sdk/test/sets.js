/**
 * Decodes a set of traces. It is implemented only from docs/format.md, to prove that another
 * program can read the output of the Go package encode. It does not support numbers over 2^53,
 * which real traces do not have.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true });
const markers = ['', 'script', 'gc', 'style', 'layout', 'paint', 'other', 'idle'];

/** @type {(n: number) => number} */
const unzigzag = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);

/** Reads varints from bytes. */
function* varints(/** @type {Uint8Array} */ bytes) {
  let [value, unit] = [0, 1];
  for (const byte of bytes) {
    value += (byte & 127) * unit;
    unit *= 128;
    if (byte < 128) {
      yield value;
      [value, unit] = [0, 1];
    }
  }
}

/**
 * Reads a message: the values of each field by number, which are numbers or bytes.
 * @param {Uint8Array} bytes
 */
function fields(bytes) {
  /** @type {any[][]} */
  const out = [];
  let at = 0;
  const varint = () => {
    const [value] = varints(bytes.subarray(at));
    while (bytes[at++] > 127);
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const values = (out[Math.floor(tag / 8)] ??= []);
    if (tag % 8 == 0) {
      values.push(varint());
      continue;
    }
    const size = { 1: 8, 5: 4 }[tag % 8] ?? varint();
    values.push(bytes.subarray(at, (at += size)));
  }
  return out;
}

/** Returns a function that returns the next value on each call. */
const inTurn = (/** @type {Iterable<any>} */ values) => {
  const all = [...values][Symbol.iterator]();
  return () => all.next().value;
};

/**
 * Returns the traces of a set in the form of the API, each with the context for encodeTrace.
 * @param {Uint8Array} bytes
 * @returns {Parameters<typeof import('../src/encodeTrace.js').encodeTrace>[]}
 */
export function readSet(bytes) {
  const set = fields(bytes);
  /** @type {(field: number) => number[]} */
  const column = (field) => [...varints(set[field]?.[0] ?? [])];
  const next = (/** @type {number} */ field) => inTurn(column(field));
  const text = (/** @type {Uint8Array | undefined} */ of) => utf8.decode(of ?? new Uint8Array());

  // Resources and names are one text each, whose rows have lengths in bytes.
  let [own, url] = [set[3]?.[0], new Uint8Array()];
  const shared = next(4);
  const resources = column(5).map((length) => {
    url = Uint8Array.from([...url.subarray(0, shared()), ...own.subarray(0, length)]);
    own = own.subarray(length);
    return text(url);
  });
  let names = set[6]?.[0];
  const nameTable = column(7).map((length) => {
    const name = text(names.subarray(0, length));
    names = names.subarray(length);
    return name;
  });

  const [frameName, position] = [next(8), next(10)];
  let unused = 0; // name
  const frames = column(9).flatMap((count, i) => {
    let [line, column] = [0, 0];
    return Array.from({ length: count }, () => {
      const [name, step] = [frameName(), position()];
      if (step % 2) [line, column] = [line + (step - 1) / 2, position()];
      else column += step / 2;
      return {
        name: name == 0 ? '' : nameTable[name == 1 ? unused++ : name - 2],
        ...(i && { resourceId: i - 1 }),
        line,
        column,
      };
    });
  });

  // Stack i is node i + 1.
  /** @type {{ frameId: number, parentId?: number }[]} */
  const stacks = [];
  const [length, frame] = [next(12), next(13)];
  for (const distance of column(11)) {
    let parent = stacks.length + 1 - distance;
    for (let left = length(); left >= 0; left--) {
      const from = parent ? stacks[parent - 1].frameId : 0;
      stacks.push({ frameId: from + unzigzag(frame()), ...(parent && { parentId: parent - 1 }) });
      parent = stacks.length;
    }
  }

  const contexts = set[2].map(fields);
  const [start, unit, time, run, runLength] = [14, 15, 16, 17, 18].map(next);
  const marker = inTurn(column(19).flatMap((marker, i) => Array(column(20)[i] + 1).fill(markers[marker])));
  const [count, viewLength, chunk, origin, spanCount] = [39, 43, 44, 45, 47].map(next);
  const [span, spanStart, spanLength, spanKind, cost] = [next(48), next(49), next(50), column(51), column(46)];
  let [ids, viewId, timeOrigin] = [set[42]?.[0], new Uint8Array(), 0];
  const rows = column(38);
  return rows.map((row, i) => {
    const own = contexts[row];
    const interval = own[5]?.[0] ?? 0;
    const usual = Math.floor(interval / column(15)[i]);
    let [now, step, node, left, named] = [unzigzag(start()), unit(), 0, 0, 0];
    const samples = Array.from({ length: count() }, (_, k) => {
      if (k) now += (unzigzag(time()) + usual) * step;
      if (!left) {
        const coded = run();
        left = coded % 2 ? runLength() + 2 : 1;
        const place = Math.floor(coded / 2);
        if (place) named += unzigzag(place - 1);
        node = place && named;
      }
      left--;
      const kind = marker();
      return { timestamp: now / 1000, ...(node && { stackId: node - 1 }), ...(kind && { marker: kind }) };
    });
    const idLength = viewLength();
    if (idLength) [viewId, ids] = [ids.subarray(0, idLength - 1), ids.subarray(idLength - 1)];
    timeOrigin += unzigzag(origin());
    let from = 0;
    const spans = Array.from({ length: spanCount() ?? 0 }, () => {
      from += unzigzag(spanStart());
      const what = span();
      return [from / 1000, (from + spanLength()) / 1000, spanKind[what], text(set[52][what])];
    });
    const share = own[6]?.[0];
    const context = {
      page: text(own[1]?.[0]),
      $viewId: viewId,
      $chunk: chunk(),
      timeOrigin: timeOrigin / 1000,
      $interval: interval / 1000,
      $share: share ? new DataView(share.buffer, share.byteOffset).getFloat64(0, true) : 0,
      release: text(own[7]?.[0]),
      environment: text(own[8]?.[0]),
      labels: Object.fromEntries((own[9] ?? []).map((key, i) => [text(key), text(own[10][i])])),
      $spans: spans,
    };
    const spent = cost.length ? [0, 1, 2, 3, 4].map((field) => cost[field * rows.length + i]) : [];
    return /** @type {any} */ ([{ resources, frames, stacks, samples }, context, () => spent]);
  });
}
