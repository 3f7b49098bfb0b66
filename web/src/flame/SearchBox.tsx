// A search box with a summary of its matches.

import type { RefObject } from 'preact';
import { count, share } from '../tree/format.ts';
import type { Found, Search } from '../tree/search.ts';
import type { Numbers } from './numbers.ts';

interface Props {
  /** What is searched, for screen readers. */
  label: string;
  text: string;
  search: Search;
  found?: Found;
  numbers: Numbers;
  input: RefObject<HTMLInputElement | null>;
  onText(text: string): void;
  onStep(forward: boolean): void;
  /** Moves the focus out of the box. */
  onLeave(): void;
}

/** A search box for names and locations, with the total of its matches. */
export function SearchBox({ label, text, search, found, numbers, input, onText, onStep, onLeave }: Props) {
  const press = (event: KeyboardEvent) => {
    if (event.key == 'Enter') onStep(!event.shiftKey);
    else if (event.key != 'Escape') return;
    else if (text != '') onText('');
    else onLeave();
    event.preventDefault();
  };
  return (
    <div class="flame-search" role="search" aria-label={`Functions and files of ${label}`}>
      <input
        ref={input}
        type="search"
        placeholder="Search, or /expression/"
        aria-label="Search functions and files"
        aria-invalid={search.problem != undefined}
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={press}
      />
      {found && found.nodes.length > 0 && (
        <>
          <button type="button" class="flame-button" aria-label="Previous match" onClick={() => onStep(false)}>
            ↑
          </button>
          <button type="button" class="flame-button" aria-label="Next match" onClick={() => onStep(true)}>
            ↓
          </button>
        </>
      )}
      <output class={search.problem ? 'flame-problem' : 'flame-quiet'}>
        {text && (search.problem ?? foundText(found, numbers))}
      </output>
    </div>
  );
}

/**
 * Formats matches: '37 matches, 12.4 ms, 8.1 %'. They are calls if calls are in chronological
 * order, else functions.
 */
export function foundText(found: Found | undefined, numbers: Numbers): string {
  if (!found?.functions) return 'no matches';
  const many = numbers.start ? found.nodes.length : found.functions;
  const matches = many == 1 ? '1 match' : `${count(many)} matches`;
  const sum = numbers.unit == 'share' ? '' : `, ${numbers.amount(found.total)}`;
  return `${matches}${sum}, ${share(found.share)}`;
}
