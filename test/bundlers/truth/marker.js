import { functions, skipTo } from './functions.js';

// A marker is a call with a number at the start of a function. Bundlers do not know __f, so they
// keep the calls, however they change names, files and enclosing functions.

/** The name of the called function. */
export const markerName = '__f';

/**
 * Inserts a marker into each function of a source.
 * @param {string} text
 * @param {string} file its language
 * @param {(text: string) => number} number returns the number for the text of a function
 * @returns {{marked: string, texts: Map<number, string>}} `texts` are the original functions by
 *   number
 */
export function mark(text, file, number) {
  /** @type {{at: number, text: string}[]} */
  const inserts = [];
  const texts = new Map();
  for (const { node } of functions(text, file)) {
    if (!node) continue;
    const before = text.slice(node.start, node.end);
    const marker = number(before);
    texts.set(marker, before);
    const call = `${markerName}(${marker})`;
    if (node.body.type == 'BlockStatement') {
      const directive = node.body.directives.at(-1);
      inserts.push(
        directive ? { at: directive.end, text: `;${call};` } : { at: node.body.start + 1, text: `${call};` },
      );
    } else {
      inserts.push({ at: arrowEnd(node, text), text: `(${call},` }, { at: node.end, text: ')' });
    }
  }
  inserts.sort((a, b) => a.at - b.at);
  let marked = '';
  let from = 0;
  for (const insert of inserts) {
    marked += text.slice(from, insert.at) + insert.text;
    from = insert.at;
  }
  return { marked: marked + text.slice(from), texts };
}

/** Returns the position after the arrow, where the body starts, including its parentheses. */
function arrowEnd(node, text) {
  const before = node.returnType ?? node.params.at(-1) ?? node.typeParameters;
  return skipTo('=>', text, before?.end ?? node.start) + 2;
}

/**
 * Returns the number of the marker at the start of a function, or undefined if the function does
 * something else first. Wrappers of bundlers that contain other functions do.
 * @param {any} node a function of Babel's tree
 * @returns {number | undefined}
 */
export function markerOf({ body }) {
  return body.type == 'BlockStatement' ? firstOf(body.body).marker : firstIn(body).marker;
}

/** The first action: a marker, something else, or nothing that can be determined. */
const nothing = { done: false, marker: undefined };
const other = { done: true, marker: undefined };

/** @param {any[]} nodes in the order in which they are evaluated */
function firstOf(nodes) {
  for (const node of nodes) {
    const first = firstIn(node);
    if (first.done) return first;
  }
  return nothing;
}

/** Returns the first action of a statement or an expression. */
function firstIn(node) {
  if (!node) return nothing;
  switch (node.type) {
    case 'CallExpression':
      if (node.callee.type == 'Identifier' && node.callee.name == markerName) {
        return { done: true, marker: node.arguments[0].value };
      }
      return then([node.callee, ...node.arguments]);
    case 'NewExpression':
    case 'OptionalCallExpression':
      return then([node.callee, ...node.arguments]);
    case 'ExpressionStatement':
      return firstIn(node.expression);
    case 'ReturnStatement':
    case 'ThrowStatement':
    case 'AwaitExpression':
    case 'YieldExpression':
    case 'SpreadElement':
      return then([node.argument]);
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement':
      return then([node.test]);
    case 'ForStatement':
      return then([node.init, node.test]);
    case 'ForInStatement':
    case 'ForOfStatement':
      return then([node.right]);
    case 'SwitchStatement':
      return then([node.discriminant]);
    case 'BlockStatement':
      return firstOf(node.body);
    case 'TryStatement':
      return firstOf(node.block.body);
    case 'LabeledStatement':
    case 'DoWhileStatement':
      return firstIn(node.body);
    case 'VariableDeclaration':
      return firstOf(node.declarations.map(({ init }) => init));
    case 'SequenceExpression':
      return firstOf(node.expressions);
    case 'UnaryExpression':
      return firstIn(node.argument);
    case 'LogicalExpression':
    case 'BinaryExpression':
      return firstOf([node.left, node.right]);
    case 'AssignmentExpression':
      // A constructor parameter in TypeScript that is also a field.
      if (node.left.object?.type == 'ThisExpression') return firstIn(node.right);
      return then([node.left.object, node.left.computed && node.left.property, node.right]);
    case 'MemberExpression':
    case 'OptionalMemberExpression':
      return then([node.object, node.computed && node.property]);
    case 'ArrayExpression':
      return firstOf(node.elements);
    case 'ObjectExpression':
      return firstOf(node.properties.map(({ value }) => value));
    case 'TemplateLiteral':
      return firstOf(node.expressions);
    case 'ClassDeclaration':
    case 'ClassExpression':
      return other;
    default: // names, literals, functions
      return nothing;
  }
}

/** Returns the first action of operands, or else the operation itself. */
function then(operands) {
  const first = firstOf(operands);
  return first.done ? first : other;
}
