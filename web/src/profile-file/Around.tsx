// A function between its callers and callees.

import { useMemo } from 'preact/hooks';
import { FlameGraph } from '../flame/FlameGraph.tsx';
import { fullPlaceOf, nameOf } from '../tree/format.ts';
import { callees, callers } from '../tree/sandwich.ts';
import type { Frame, Tree } from '../tree/tree.ts';

interface Props {
  tree: Tree;
  /** Index of the function in the frames of the tree. */
  frame: number;
  onSandwich(frame: Frame): void;
  onClose(): void;
}

/** The callers and callees of a function, over all stacks. */
export function Around({ tree, frame, onSandwich, onClose }: Props) {
  const of = tree.frames[frame]!;
  const [above, below] = useMemo(() => [callers(tree, frame), callees(tree, frame)], [tree, frame]);
  const name = nameOf(of, 80);
  return (
    <>
      <header>
        <h2>
          <bdi>{name}</bdi>{' '}
          <small class="quiet">
            <bdi>{fullPlaceOf(of)}</bdi>
          </small>
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="body">
        <h3>Callers</h3>
        <FlameGraph tree={above} label={`callers of ${name}`} title="callers" onSandwich={onSandwich} />
        <h3>Callees</h3>
        <FlameGraph tree={below} label={`callees of ${name}`} title="callees" onSandwich={onSandwich} />
      </div>
    </>
  );
}
