// The legend of a flame graph's colours.

import { useMemo } from 'preact/hooks';
import { changeColour, largestChange, ownerColour, selfColour, type Colouring } from '../tree/colour.ts';
import { signed } from '../tree/format.ts';
import { ownerNames, type Owner } from '../tree/owner.ts';
import type { Tree } from '../tree/tree.ts';

/** Lists the colours that have names. */
export function Legend({ tree, colouring, dark }: { tree: Tree; colouring: Colouring; dark: boolean }) {
  const most = useMemo(() => (colouring == 'change' ? largestChange(tree) : 0), [tree, colouring]);
  switch (colouring) {
    case 'owner':
      return (
        <ul class="flame-legend">
          {(Object.keys(ownerNames) as Owner[]).map((owner) => (
            <li key={owner}>
              <Swatch colour={ownerColour(owner, dark)} />
              {ownerNames[owner]}
            </li>
          ))}
        </ul>
      );
    case 'change':
      return (
        <p class="flame-legend">
          <span>▼ {signed(-most)}</span>
          {[-1, -0.5, 0, 0.5, 1].map((part) => (
            <Swatch key={part} colour={changeColour(part, dark)} />
          ))}
          <span>
            ▲ {signed(most)}
            {tree.views > 0 && ' per page view'}
          </span>
        </p>
      );
    case 'self':
      return (
        <p class="flame-legend">
          <Swatch colour={selfColour(0, dark)} /> no self time <Swatch colour={selfColour(1, dark)} /> the most
        </p>
      );
    case 'file':
      return <p class="flame-legend">each file has a colour; grey is the browser</p>;
  }
}

function Swatch({ colour }: { colour: string }) {
  return <span class="flame-swatch" aria-hidden="true" style={{ background: colour }} />;
}
