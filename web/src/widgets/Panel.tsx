// A part of a page with a title.

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Question } from '../api/questions.ts';
import type { Shown } from '../state/answer.ts';
import { Command } from './Command.tsx';
import { State } from './Notice.tsx';
import './widgets.css';

interface Props<T> {
  title: string;
  /** What is beside the title. */
  beside?: ComponentChildren;
  /** The question that gives the numbers, to be shown as a command. */
  question?: Question<unknown>;
  /** What is shown; its problems are shown instead of it. */
  shown?: Shown<T>;
  class?: string;
  children: ComponentChildren | ((answer: T) => ComponentChildren);
}

/** A part of a page with a title, the command for the same, and how things stand with its answer. */
export function Panel<T>({ title, beside, question, shown, class: name = '', children }: Props<T>) {
  const id = useId();
  const answer = shown?.answer;
  const body = typeof children != 'function' ? children : answer == undefined ? null : children(answer);
  return (
    <section class={`panel ${name}`} aria-labelledby={id} aria-busy={shown?.pendingSince != undefined}>
      <header>
        <h2 id={id}>{title}</h2>
        <div class="beside">{beside}</div>
        {question && <Command question={question} />}
      </header>
      {shown && <State of={shown} />}
      <div class={shown?.old ? 'body old' : 'body'}>{body}</div>
    </section>
  );
}
