import { parse } from '@babel/parser';
import { functions } from './functions.js';
import { markerName, markerOf } from './marker.js';

// A seeded editor of sources with markers. The number of a function's marker identifies its edits,
// because it remains when the function is edited, renamed or moved.

/** Returns a generator of random numbers from a seed (mulberry32). */
export function randomOf(seed) {
  let state = seed | 0;
  return (/** @type {number} */ below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Yields the nodes of a tree, each with its parent. */
function* walk(node, above) {
  yield { node, above };
  for (const key in node) {
    if (key == 'loc' || key == 'extra' || key.endsWith('Comments')) continue;
    for (const child of [node[key]].flat()) if (typeof child?.type == 'string') yield* walk(child, node);
  }
}

/** Replaces ranges by texts. */
export function replaced(text, changes) {
  let out = '';
  let from = 0;
  for (const { start, end = start, by } of changes.toSorted((a, b) => a.start - b.start)) {
    out += text.slice(from, start) + by;
    from = end;
  }
  return out + text.slice(from);
}

/** Returns the functions of a file that have markers. */
const markedIn = (file, text) => functions(text, file).filter(({ node }) => node && markerOf(node));

/** Editors of a function. They return changes, or undefined if they cannot change it. */
const edits = {
  literal({ node, random }) {
    const found = own(node).filter(
      ({ type, above }) =>
        /^(Numeric|String)Literal$/.test(type) &&
        !isMarker(above) &&
        !/^(JSX|Import|TS)/.test(above.type) &&
        above.key?.type != type,
    );
    const chosen = found[random(found.length)];
    if (!chosen) return;
    const { start, end, value } = chosen;
    return [{ start, end, by: typeof value == 'number' ? String(value + 1) : JSON.stringify(`${value} x`) }];
  },
  statement: ({ node, number }) => first(node, `globalThis.e${number} = ${number}`),
  call: ({ node, number }) =>
    first(node, `[${number}].forEach((x) =>(${markerName}(${number}), globalThis.d${number} = x))`),
  remove({ node, above }) {
    if (!/^(ArrowFunction|Function)Expression$/.test(node.type) || !above.arguments?.includes(node)) return;
    if (markedBelow(node) > 1) return;
    return [{ start: node.start, end: node.end, by: 'Object' }];
  },
  comment: ({ node, number }) =>
    node.body.type == 'BlockStatement' && [
      { start: node.body.start + 1, by: number % 2 ? `/* note ${number} */` : `\n    // note ${number}\n` },
    ],
  white: ({ node, text, file }) =>
    !file.endsWith('.vue') &&
    spaces(text, file)
      .filter(({ start, end }) => start > node.start && end < node.end)
      .map(({ start, end }) => ({ start, end, by: text.slice(start, end).replaceAll('\n', '\n  ') + ' ' })),
  rename({ node, file, tree, number, above }) {
    if (node.type != 'FunctionDeclaration' || !node.id || /^Export/.test(above.type) || file.endsWith('.vue')) return;
    const changes = [];
    for (const { node: other, above } of walk(tree)) {
      if (!/^(JSX)?Identifier$/.test(other.type) || other.name != node.id.name) continue;
      if (/Specifier|^TS/.test(above.type) || (above.shorthand && above.value == other)) return;
      if ((above.property == other && !above.computed) || (above.key == other && !above.computed)) continue;
      changes.push({ start: other.start, end: other.end, by: `${other.name}${number}` });
    }
    return changes;
  },
};

/** Editors of a file. */
const fileEdits = {
  header: ({ number }) => [{ start: 0, by: `\n/* header ${number} */\n\n` }],
  add({ file, text, functions, number, random }) {
    if (file.endsWith('.vue')) return;
    const at = functions[random(functions.length)];
    const call = at && first(at.node, `globalThis.c = added${number}(globalThis.c)`);
    if (!call) return;
    return [
      ...call,
      {
        start: text.length,
        by: `\nfunction added${number}(x) {${markerName}(${number});globalThis.a = x;return [x, x * ${number}];}\n`,
      },
    ];
  },
  reorder({ file, text, tree, random }) {
    if (file.endsWith('.vue')) return;
    const found = tree.body.filter(
      ({ type, declaration }) => type == 'FunctionDeclaration' || declaration?.type == 'FunctionDeclaration',
    );
    if (found.length < 2) return;
    const i = random(found.length - 1);
    const [a, b] = [found[i], found[i + 1]];
    return [
      { start: a.start, end: a.end, by: text.slice(b.start, b.end) },
      { start: b.start, end: b.end, by: text.slice(a.start, a.end) },
    ];
  },
  move({ file, text, tree, number, random }) {
    if (file.endsWith('.vue')) return;
    const found = tree.body.filter(({ type, id }) => type == 'FunctionDeclaration' && id);
    const chosen = found[random(found.length)];
    if (!chosen) return;
    const to = `moved${number}${file.match(/\.\w+$/)[0]}`;
    const changes = [
      { start: 0, by: `import { ${chosen.id.name} } from './${to.replace(/\.\w+$/, '')}';\n` },
      { start: chosen.start, end: chosen.end, by: '' },
    ];
    return Object.assign(changes, {
      file: file.replace(/[^/]+$/, to),
      content: `export ${text.slice(chosen.start, chosen.end)}\n`,
    });
  },
};

const isMarker = (node) => node.type == 'CallExpression' && node.callee.name == markerName;

/** Yields the nodes of a function, without nested functions. */
function own(fn) {
  const found = [];
  const visit = (node, above) => {
    if (node != fn && /Function|Method$/.test(node.type) && node.body) return;
    found.push(Object.assign(Object.create(node), { above }));
    for (const key in node) {
      if (key == 'loc' || key == 'extra' || key.endsWith('Comments')) continue;
      for (const child of [node[key]].flat()) if (typeof child?.type == 'string') visit(child, node);
    }
  };
  visit(fn.body, fn);
  return found;
}

const markedBelow = (node) => [...walk(node)].filter(({ node }) => isMarker(node)).length;

/** Inserts an expression after the marker of a function. */
function first(node, by) {
  const marker = own(node).find(isMarker);
  if (!marker) return;
  const statement = node.body.type == 'BlockStatement';
  return [{ start: marker.end, by: statement ? `;${by}` : `, ${by}` }];
}

/** Returns white space with a line end between tokens. */
function spaces(text, file) {
  const { tokens } = parse(text, {
    sourceType: 'module',
    plugins: ['typescript', ...(file.endsWith('x') ? ['jsx'] : [])],
    tokens: true,
  });
  const found = [];
  tokens.forEach(({ start }, i) => {
    const before = tokens[i - 1];
    if (
      !before ||
      before.type.label == 'jsxText' ||
      tokens[i].type.label == 'jsxText' ||
      before.type.label == 'template'
    )
      return;
    if (/^\s*\n\s*$/.test(text.slice(before.end, start))) found.push({ start: before.end, end: start });
  });
  return found;
}

const treeOf = (text, file) =>
  file.endsWith('.vue')
    ? { body: [] }
    : parse(text, { sourceType: 'module', plugins: ['typescript', ...(file.endsWith('x') ? ['jsx'] : [])] }).program;

/**
 * Edits sources randomly.
 * @param {Map<string, string>} sources by file, with markers
 * @param {number} seed
 * @param {number} count of edits
 * @returns {{sources: Map<string, string>, done: string[]}} `done` describes the edits
 */
export function edited(sources, seed, count) {
  const random = randomOf(seed);
  const out = new Map(sources);
  const done = [];
  const kinds = [...Object.keys(edits), ...Object.keys(fileEdits)];
  const changed = new Set(); // numbers of functions, so that no function is changed twice
  for (let tries = 0; done.length < count && tries < 50 * count; tries++) {
    const number = 1_000_000 + 1000 * seed + tries;
    const files = [...out.keys()].sort();
    const file = files[random(files.length)];
    const text = out.get(file);
    const all = markedIn(file, text);
    const kind = kinds[random(kinds.length)];
    const tree = treeOf(text, file);
    let changes;
    let what = file;
    if (kind in fileEdits) {
      changes = fileEdits[kind]({ file, text, tree, functions: all, number, random });
    } else {
      const fn = all[random(all.length)];
      if (!fn || changed.has(markerOf(fn.node))) continue;
      let above = {};
      for (const pair of walk(tree))
        if (pair.node.start == fn.node.start && pair.node.type == fn.node.type) above = pair.above ?? {};
      changes = edits[kind]({ ...fn, above, file, text, tree, number, random });
      if (changes) changed.add(markerOf(fn.node));
      what += `:${fn.line} ${fn.name}`;
    }
    if (!changes || !changes.length) continue;
    out.set(file, replaced(text, changes));
    if (changes.file) out.set(changes.file, changes.content);
    done.push(`${kind} ${what}`);
  }
  return { sources: out, done };
}
