import { parse } from '@babel/parser';
import { Lines } from './lines.js';
import { Names, classMembers, keyName, keyStart } from './names.js';

/** @import { Node } from '@babel/types' */

/**
 * A function of a script, with everything that profilers can report in a frame.
 * @typedef {object} Function
 * @property {number} line of the position in V8's frames, from 1
 * @property {number} column of it, from 1, in UTF-16 units
 * @property {string} name in V8; '' is anonymous
 * @property {string} property that it is assigned to (`a.b = function`): it has no name in V8 then
 * @property {string} class that it is a member of, or ''
 * @property {string} kind of syntax: the type in Babel's tree, and get, set or constructor
 * @property {any} node in Babel's tree; initializers of classes have none
 */

/** Parser plugins by file extension. */
const plugins = {
  ts: ['typescript'],
  tsx: ['typescript', 'jsx'],
  vue: ['typescript'],
};

/**
 * Parses a source. `name` determines the language. The tree of a Vue component is the tree of its
 * scripts.
 */
function parseSource(text, name) {
  return parse(name.endsWith('.vue') ? scriptsOf(text) : text, {
    sourceType: 'unambiguous',
    plugins: plugins[name.split('.').at(-1)] ?? [],
    allowReturnOutsideFunction: true,
    errorRecovery: false,
  }).program;
}

/**
 * Returns a Vue component with everything except its scripts blanked, so that these keep their
 * positions.
 */
export function scriptsOf(text) {
  const blank = (other) => other.replace(/[^\n\r]/g, ' ');
  const scripts = /(<script[^>]*>)([^]*?)(?=<\/script>)/g;
  let code = '';
  for (const { index, 1: tag, 2: script } of text.matchAll(scripts)) {
    code += blank(text.slice(code.length, index) + tag) + script;
  }
  return code;
}

/** Yields the children of a node. */
function* children(node) {
  for (const key in node) {
    const value = node[key];
    if (key == 'loc' || key == 'extra' || key.endsWith('Comments')) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type == 'string') yield child;
    }
  }
}

/** Reports whether a node is a function with a body: TypeScript has declarations without one. */
const isFunction = (node) =>
  /Function(Declaration|Expression)$|^(Object|Class|ClassPrivate)Method$/.test(node.type) && node.body;

/**
 * Returns all functions of a source by position: explicit ones, implicit constructors of classes,
 * and initializers of their fields.
 * @param {string} text
 * @param {string} name of the file, for its language
 * @returns {Function[]}
 */
export function functions(text, name) {
  const names = new Names();
  const lines = new Lines(text);
  /** @type {(Function & {start: number})[]} */
  const found = [];
  const add = (start, entry) => found.push({ start, ...lines.place(start), property: '', class: '', ...entry });

  /** @param {any} node @param {string} owner class of a member, else '' */
  const visit = (node, owner) => {
    names.note(node);
    if (isFunction(node)) {
      const kind = node.kind && node.kind != 'method' ? `${node.type}:${node.kind}` : node.type;
      const property = names.property(node);
      add(placeOf(node, text), { name: nameOf(node, names, owner), property, class: owner, kind, node });
    }
    const isClass = node.type == 'ClassDeclaration' || node.type == 'ClassExpression';
    if (isClass) for (const start of initializers(node)) add(start, { name: names.of(node), kind: 'Class' });
    for (const child of children(node)) {
      if (node.type == 'ClassBody') visit(child, owner);
      else if (isClass && child == node.body) visit(child, names.of(node));
      else visit(child, /^Class\w*Property$/.test(node.type) && child == node.value ? owner : '');
    }
  };
  visit(parseSource(text, name), '');
  return found.sort((a, b) => a.start - b.start);
}

/** Returns the name of a function in V8: its own, or the name of its binding. */
function nameOf(node, names, owner) {
  if (!/Method$/.test(node.type)) return names.of(node);
  if (node.kind == 'constructor') return owner;
  const key = keyName(node);
  return key && (node.kind == 'get' || node.kind == 'set') ? `${node.kind} ${key}` : key;
}

/**
 * Returns the position where a function starts according to V8: an arrow at its first character,
 * others at the `(` of their parameters.
 */
function placeOf(node, text) {
  if (node.type == 'ArrowFunctionExpression') return node.start;
  const from = node.typeParameters ?? node.id ?? node.key;
  let at = from ? from.end : node.start;
  if (from && from == node.key && node.computed) at = skipTo(']', text, at);
  return skipTo('(', text, at);
}

/** Returns the first position of `what` at or after `at`, outside comments. */
export function skipTo(what, text, at) {
  while (!text.startsWith(what, at)) {
    if (text.startsWith('/*', at)) at = text.indexOf('*/', at) + 2;
    else if (text.startsWith('//', at)) at = text.indexOf('\n', at) + 1;
    else at++;
    if (at >= text.length) throw new Error(`no ${what} is left`);
  }
  return at;
}

/**
 * Returns the positions of the functions that V8 creates for a class: an implicit constructor, and
 * initializers of fields and static members.
 */
function initializers(node) {
  const { constructor, fields, statics } = classMembers(node);
  const starts = [];
  if (!constructor) starts.push(node.start);
  if (fields.length) starts.push(keyStart(fields[0]));
  if (statics.length) starts.push(statics[0].start);
  return starts;
}
