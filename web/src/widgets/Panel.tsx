// A part of a page with a title.

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Query } from '../api/queries.ts';
import type { Shown } from '../state/responses.ts';
import { Command } from './Command.tsx';
import { State } from './Notice.tsx';
import './widgets.css';

interface Props<T> {
  title: string;
  /** Shown next to the title. */
  beside?: ComponentChildren;
  /** The query for these numbers, to be shown as a command. */
  query?: Query<unknown>;
  /** The response; its problems replace the contents. */
  shown?: Shown<T>;
  class?: string;
  /** Whether a tab above has the title already. Then it is only for screen readers. */
  tab?: boolean;
  children: ComponentChildren | ((response: T) => ComponentChildren);
}

/** A part of a page with a title, a command for the same numbers, and the state of its response. */
export function Panel<T>({ title, beside, query, shown, class: name = '', tab, children }: Props<T>) {
  const id = useId();
  const response = shown?.response;
  const body = typeof children != 'function' ? children : response == undefined ? null : children(response);
  return (
    <section class={`panel ${name}`} aria-labelledby={id} aria-busy={shown?.pendingSince != undefined}>
      <header class={tab ? 'of-tab' : undefined}>
        <h2 id={id} class={tab ? 'hidden' : undefined}>
          {title}
        </h2>
        <div class="beside">{beside}</div>
        {query && <Command query={query} />}
      </header>
      {shown && <State of={shown} />}
      <div class={shown?.old ? 'body old' : 'body'}>{body}</div>
    </section>
  );
}
