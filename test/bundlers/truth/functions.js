import { parse } from '@babel/parser';
import { Lines } from './lines.js';
import { Names, classMembers, keyName, keyStart } from './names.js';

/** @import { Node } from '@babel/types' */

/**
 * A function of a script, with everything that profilers report for a frame.
 * @typedef {object} Function
 * @property {number} line of the position that V8 reports for a frame, from 1
 * @property {number} column of it, from 1, in UTF-16 units
 * @property {string} name according to V8; '' is anonymous
 * @property {string} property that it is assigned to (`a.b = function`), in which case V8 has no name
 * @property {string} class whose member it is, or ''
 * @property {string} kind of syntax: the type of Babel's node, or get, set or constructor
 * @property {any} node of Babel's tree, undefined for initializers of classes
 */

/** Plugins of the parser, by file extension. */
const plugins = {
  ts: ['typescript'],
  tsx: ['typescript', 'jsx'],
  vue: ['typescript'],
};

/** The tree of a source. `name` determines the language. For a Vue component, it is the tree of its scripts. */
function parseSource(text, name) {
  return parse(name.endsWith('.vue') ? scriptsOf(text) : text, {
    sourceType: 'unambiguous',
    plugins: plugins[name.split('.').at(-1)] ?? [],
    allowReturnOutsideFunction: true,
    errorRecovery: false,
  }).program;
}

/** A Vue component with everything except its scripts blanked, so that these keep their positions. */
export function scriptsOf(text) {
  const blank = (other) => other.replace(/[^\n\r]/g, ' ');
  const scripts = /(<script[^>]*>)([^]*?)(?=<\/script>)/g;
  let code = '';
  for (const { index, 1: tag, 2: script } of text.matchAll(scripts)) {
    code += blank(text.slice(code.length, index) + tag) + script;
  }
  return code;
}

/** The children of a node. */
function* children(node) {
  for (const key in node) {
    const value = node[key];
    if (key == 'loc' || key == 'extra' || key.endsWith('Comments')) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type == 'string') yield child;
    }
  }
}

/** Whether a node is a function with a body. TypeScript has declarations without one. */
const isFunction = (node) => /Function(Declaration|Expression)$|^(Object|Class|ClassPrivate)Method$/.test(node.type) && node.body;

/**
 * All functions of a source, sorted by position: the written ones, the implicit constructors
 * of classes, and their field initializers.
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

/** The name that V8 gives a function: its own, or its binding's. */
function nameOf(node, names, owner) {
  if (!/Method$/.test(node.type)) return names.of(node);
  if (node.kind == 'constructor') return owner;
  const key = keyName(node);
  return key && (node.kind == 'get' || node.kind == 'set') ? `${node.kind} ${key}` : key;
}

/** The position where a function begins according to V8: an arrow at its first character, others at the `(` of their parameters. */
function placeOf(node, text) {
  if (node.type == 'ArrowFunctionExpression') return node.start;
  const from = node.typeParameters ?? node.id ?? node.key;
  let at = from ? from.end : node.start;
  if (from && from == node.key && node.computed) at = skipTo(']', text, at);
  return skipTo('(', text, at);
}

/** The first position at or after `at` of `what` outside comments. */
export function skipTo(what, text, at) {
  while (!text.startsWith(what, at)) {
    if (text.startsWith('/*', at)) at = text.indexOf('*/', at) + 2;
    else if (text.startsWith('//', at)) at = text.indexOf('\n', at) + 1;
    else at++;
    if (at >= text.length) throw new Error(`no ${what} is left`);
  }
  return at;
}

/** The positions of the functions that V8 makes for a class: an implicit constructor, field initializers, static blocks. */
function initializers(node) {
  const { constructor, fields, statics } = classMembers(node);
  const starts = [];
  if (!constructor) starts.push(node.start);
  if (fields.length) starts.push(keyStart(fields[0]));
  if (statics.length) starts.push(statics[0].start);
  return starts;
}
