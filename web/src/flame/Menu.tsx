// The menu of a call.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { fullPlaceOf, nameOf } from '../tree/format.ts';
import { stackOf } from '../tree/key.ts';
import type { Frame, Tree } from '../tree/tree.ts';

/** An action for a call. */
export interface FlameAction {
  label: string;
  /** The key with the same action in the graph. */
  keys?: string;
  run(frame: Frame, node: number): void;
}

interface Props {
  actions: readonly FlameAction[];
  frame: Frame;
  node: number;
  /** Position of its corner on the screen, in CSS pixels. */
  x: number;
  y: number;
  /** Called after an action, and when the menu is dismissed. */
  onClose(): void;
}

/** A menu. The keys are those of menus: https://www.w3.org/WAI/ARIA/apg/patterns/menubar/. */
export function Menu({ actions, frame, node, x, y, onClose }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    menu.current!.showPopover(); // above everything, whatever contains it
    const { style, offsetWidth, offsetHeight } = menu.current!;
    style.left = `${Math.max(4, Math.min(x, innerWidth - offsetWidth - 4))}px`;
    style.top = `${Math.max(4, Math.min(y, innerHeight - offsetHeight - 4))}px`;
    (menu.current!.querySelector('[role=menuitem]') as HTMLElement | null)?.focus();
  }, [x, y, node]);
  useEffect(() => {
    const outside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) onClose();
    };
    addEventListener('pointerdown', outside, true);
    addEventListener('scroll', outside, true);
    return () => {
      removeEventListener('pointerdown', outside, true);
      removeEventListener('scroll', outside, true);
    };
  });
  const press = (event: KeyboardEvent) => {
    const items = [...menu.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + items.length,
      Home: 0,
      End: items.length - 1,
    };
    const next = to[event.key];
    if (next == undefined && event.key != 'Escape' && event.key != 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (next == undefined) onClose();
    else items[next % items.length]?.focus();
  };
  return (
    <div
      class="flame-menu"
      role="menu"
      popover="manual"
      aria-label={`Actions for ${nameOf(frame, 60)}`}
      ref={menu}
      onKeyDown={press}
    >
      {actions.map((action) => (
        <button
          key={action.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            onClose();
            action.run(frame, node);
          }}
        >
          {action.label}
          {action.keys && <kbd>{action.keys}</kbd>}
        </button>
      ))}
    </div>
  );
}

/** Returns a stack as text, outermost first, one call a line. */
export function stackText(tree: Tree, node: number): string {
  return stackOf(tree, node)
    .map((frame) => {
      const place = fullPlaceOf(frame, 4096);
      return (frame.name || '(anonymous)') + (place ? ` (${place})` : '');
    })
    .join('\n');
}
