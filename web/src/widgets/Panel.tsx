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
  /** The query that gives the numbers, to be shown as a command. */
  query?: Query<unknown>;
  /** What is shown; its problems are shown instead of it. */
  shown?: Shown<T>;
  class?: string;
  /** The title is on a tab above already: it is there for those who do not see that. */
  tab?: boolean;
  children: ComponentChildren | ((response: T) => ComponentChildren);
}

/** A part of a page with a title, the command for the same, and how things stand with its response. */
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
