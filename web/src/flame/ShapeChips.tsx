// Buttons that undo transformations of a tree.

import { nameOf } from '../tree/format.ts';
import { framesWith } from '../tree/key.ts';
import type { Shape } from '../tree/shape.ts';
import type { Tree } from '../tree/tree.ts';

interface Props {
  /** The tree as the API returned it. */
  tree: Tree;
  shape: Shape;
  onShape(shape: Shape): void;
}

/** Lists the parts of a shape. */
export function ShapeChips({ tree, shape, onShape }: Props) {
  const { merged, hidden, focused } = shape;
  if (!merged && hidden.length + focused.length == 0) return null;
  const name = (key: string) => {
    const [frame] = framesWith(tree, [key]);
    return frame == undefined ? 'a function that is not in this tree' : nameOf(tree.frames[frame]!, 60);
  };
  const without = (keys: readonly string[], key: string) => keys.filter((other) => other != key);
  return (
    <ul class="flame-chips" aria-label="Changes to this tree">
      {focused.map((key) => (
        <Chip
          key={key}
          what="only stacks with"
          name={name(key)}
          onUndo={() => onShape({ ...shape, focused: without(focused, key) })}
        />
      ))}
      {hidden.map((key) => (
        <Chip
          key={key}
          what="without"
          name={name(key)}
          onUndo={() => onShape({ ...shape, hidden: without(hidden, key) })}
        />
      ))}
      {merged && <Chip what="recursion merged" onUndo={() => onShape({ ...shape, merged: false })} />}
    </ul>
  );
}

function Chip({ what, name, onUndo }: { what: string; name?: string; onUndo(): void }) {
  return (
    <li>
      {what}{' '}
      {name && (
        <b>
          <bdi>{name}</bdi>
        </b>
      )}
      <button type="button" aria-label={`Undo: ${what} ${name ?? ''}`} onClick={onUndo}>
        ×
      </button>
    </li>
  );
}
