// A dialog that lists the keys.

import { useEffect, useRef } from 'preact/hooks';
import type { KeyList } from './keys.ts';

interface Props {
  /** The component that the keys control. */
  of: string;
  keys: KeyList;
  onClose(): void;
}

/** Shows the keys until it is closed. */
export function KeysDialog({ of, keys: list, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog class="flame-dialog" ref={dialog} aria-labelledby="flame-keys" onClose={onClose}>
      <h2 id="flame-keys">Keyboard shortcuts of the {of}</h2>
      <dl>
        {list.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="flame-button" onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  );
}
