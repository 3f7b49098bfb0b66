/** Node types that only TypeScript has around an expression. */
const casts = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSTypeAssertion']);

const assignments = new Set(['=', '&&=', '||=', '??=']);

/** The names of functions and classes by the rules of ECMAScript: their own, or those of their bindings. */
export class Names {
  #bound = new Map();
  #properties = new Map();

  #bind(node, name) {
    while (node && casts.has(node.type)) node = node.expression;
    if (node && name && !node.id) this.#bound.set(node, name);
  }

  /** Records the bindings of a node. It must be called before it is called for its descendants. */
  note(node) {
    switch (node.type) {
      case 'VariableDeclarator':
        if (node.id.type == 'Identifier') this.#bind(node.init, node.id.name);
        break;
      case 'AssignmentExpression':
        if (!assignments.has(node.operator)) break;
        if (node.left.type == 'Identifier') this.#bind(node.right, node.left.name);
        else if (node.left.type == 'MemberExpression' && !node.left.computed) {
          this.#properties.set(node.right, node.left.property.name ?? keyName({ key: node.left.property }));
        }
        break;
      case 'AssignmentPattern':
        if (node.left.type == 'Identifier') this.#bind(node.right, node.left.name);
        break;
      case 'ObjectProperty':
        if (keyName(node) != '__proto__') this.#bind(node.value, keyName(node));
        break;
      case 'ClassProperty':
      case 'ClassPrivateProperty':
      case 'ClassAccessorProperty':
        this.#bind(node.value, keyName(node));
        break;
      case 'ExportDefaultDeclaration':
        this.#bind(node.declaration, 'default');
    }
  }

  /** The name of a function or class that is not a member; '' is anonymous. */
  of(node) {
    return node.id?.name ?? this.#bound.get(node) ?? '';
  }

  /** The property that a function without a name is assigned to, or ''. */
  property(node) {
    return this.of(node) ? '' : (this.#properties.get(node) ?? '');
  }
}

/** The name of a key, or '' if it is computed. */
export function keyName({ key, computed }) {
  if (computed) return '';
  if (key.type == 'PrivateName') return '#' + key.id.name;
  return key.name ?? String(key.value);
}

/** The beginning of a field's key: `[` if it is computed. */
export const keyStart = (field) => (field.computed ? field.start : field.key.start);

/** The parts of a class that V8 makes functions of besides methods: constructor, instance fields, and static parts. */
export function classMembers({ body: { body } }) {
  const isField = ({ type, declare, abstract }) => /^Class\w*Property$/.test(type) && !declare && !abstract;
  return {
    constructor: body.find(({ kind, body }) => kind == 'constructor' && body),
    fields: body.filter((member) => isField(member) && !member.static),
    statics: body.filter((member) => member.type == 'StaticBlock' || (isField(member) && member.static)),
  };
}
