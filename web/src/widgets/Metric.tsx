// A number with its name and an explanation.

import type { ComponentChildren } from 'preact';
import { meanings, type Term } from './meanings.ts';
import { Popover } from './Popover.tsx';

/** A term with a button for its explanation. */
export function Explained({ term, children }: { term: Term; children: ComponentChildren }) {
  return (
    <Popover button={children} class="term">
      <p>{meanings[term]}</p>
    </Popover>
  );
}

interface Props {
  name: string;
  term: Term;
  value: ComponentChildren;
  /** The small text next to the number: its interval or change. */
  beside?: ComponentChildren;
  /** Whether it is the main number of a page. */
  hero?: boolean;
}

/** A number in a <dl class="metrics">. */
export function Metric({ name, term, value, beside, hero }: Props) {
  return (
    <div class={hero ? 'metric hero' : 'metric'}>
      <dt>
        <Explained term={term}>{name}</Explained>
      </dt>
      <dd>
        <span class="value">{value}</span>
        {beside && <span class="beside">{beside}</span>}
      </dd>
    </div>
  );
}

/** Explanations of terms, collapsed at first. */
export function Legend({ terms }: { terms: readonly (readonly [string, Term])[] }) {
  return (
    <details class="legend">
      <summary>What the numbers mean</summary>
      <dl>
        {terms.map(([name, term]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{meanings[term]}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
