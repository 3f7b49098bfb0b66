// A fact about a profile.

import type { ComponentChildren } from 'preact';
import './facts.css';

/** A name and a value in a <dl class="facts">. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
