// Names of pages, features and functions, as links to their pages.

import type { Place } from '../../api/types.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { cut, visible } from '../../widgets/numbers.ts';

/**
 * A text from outside, such as a function name: shortened, in its own direction, with the whole
 * text on hover.
 */
export function Text({ children, length = 80 }: { children: string; length?: number }) {
  const short = visible(cut(children, length));
  return <bdi title={children == short ? undefined : cut(children, 2000)}>{short}</bdi>;
}

/** A page or a feature, as a link to it. */
export function PlaceLink({ kind, name }: { kind: 'page' | 'feature'; name: string }) {
  const { place } = useView();
  if (!name) return <span class="quiet">{kind == 'feature' ? '(no feature)' : '(no page)'}</span>;
  return (
    <a href={linkTo(place, kind, { [kind]: name })}>
      <Text>{name}</Text>
    </a>
  );
}

/** The short location of a function: the file and the line. */
export function whereOf({ resource, line }: Place): string {
  if (!resource) return '';
  const file = resource
    .replace(/^.*\/node_modules\//, '')
    .replace(/^node_modules\//, '')
    .replace(/[?#].*$/, '');
  const parts = file.split('/');
  return (parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : file) + (line ? `:${line}` : '');
}

/** A function as a link to its page, with a link to its source. */
export function FunctionLink({ of, href: source }: { of: Place; href?: string }) {
  const { place, selection } = useView();
  const { name, resource, line, column } = of;
  const { page, feature } = selection;
  const href = linkTo(place, 'function', { name: name || ' ', resource, line, column, page, feature });
  const where = whereOf(of);
  const full = `${resource ?? ''}${line ? `:${line}:${column}` : ''}`;
  return (
    <span class="function">
      <a href={href}>
        <Text>{name || '(anonymous)'}</Text>
      </a>{' '}
      {where && (
        <small title={cut(full, 2000)}>
          {source && /^https?:/.test(source) ? (
            <a href={source} target="_blank" rel="noreferrer">
              <bdi>{visible(cut(where, 60))}</bdi>
            </a>
          ) : (
            <bdi>{visible(cut(where, 60))}</bdi>
          )}
        </small>
      )}
    </span>
  );
}
