// A function of the selection between its callers and callees.

import { useState } from 'preact/hooks';
import { around, top } from '../../api/queries.ts';
import type { Place, TopFunction } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { ownerOf, type Owner } from '../../tree/owner.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { amount, type Scale } from '../../widgets/unit.ts';
import { FunctionLink, Text, whereOf } from '../parts/names.tsx';
import { CallTree } from './CallTree.tsx';

/** Number of functions to choose from. */
const mostChoices = 500;
/** Number of functions that are listed at a time. */
const mostListed = 40;

/** Returns the function in the parameters fn, resource, line and column of a URL. */
function chosen(params: URLSearchParams): Place | undefined {
  const name = params.get('fn');
  if (name == null) return undefined;
  const whole = (key: string) => Number(params.get(key)) || undefined;
  const resource = params.get('resource') ?? undefined;
  return { name: name.trim(), resource, line: whole('line'), column: whole('column') };
}

/**
 * Returns the function of the site's own code with the most time, or of all code if the site has
 * none.
 */
function heaviest(functions: readonly TopFunction[]): TopFunction | undefined {
  const of = (owner: Owner) => functions.find(({ resource = '' }) => ownerOf({ resource }) == owner);
  return of('app') ?? of('script') ?? functions[0];
}

/**
 * A list of functions with the callers and callees of the chosen one. The first choice is the
 * heaviest function of the site's own code.
 */
export function Sandwich({ scale }: { scale: Scale }) {
  const { place, selection } = useView();
  const query = top(selection, { limit: mostChoices });
  const shown = useQuery(query);
  const what = chosen(place.params) ?? heaviest(shown.response?.functions ?? []);
  return (
    <div class="sandwich">
      <Panel title="Functions by self time" query={query} shown={shown}>
        {(response) => <Choices functions={response.functions} views={response.views} scale={scale} what={what} />}
      </Panel>
      <div class="page">
        {what && (
          <p>
            <FunctionLink of={what} />
          </p>
        )}
        {what && <Around direction="callers" of={what} scale={scale} />}
        {what && <Around direction="callees" of={what} scale={scale} />}
      </div>
    </div>
  );
}

interface ChoicesProps {
  functions: readonly TopFunction[];
  views: number;
  scale: Scale;
  what?: Place;
}

function Choices({ functions, views, scale, what }: ChoicesProps) {
  const { place } = useView();
  const [filter, setFilter] = useState('');
  const wanted = filter.toLowerCase();
  const rows = functions.filter(({ name, resource = '' }) => `${name}\n${resource}`.toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        placeholder="Filter"
        aria-label="Filter by name or file"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <ul class="choices" data-steady>
        {rows.slice(0, mostListed).map((row) => {
          const { name, resource, line, column, self_us } = row;
          const is = what?.name == name && what.line == line && what.column == column && what.resource == resource;
          return (
            <li key={`${name}\n${resource}\n${line}:${column}`}>
              <a
                href={linkHere(place, { fn: name || ' ', resource, line, column })}
                aria-current={is ? 'true' : undefined}
              >
                <span>
                  <Text length={60}>{name || '(anonymous)'}</Text> <small>{whereOf(row).slice(0, 60)}</small>
                </span>
                <span>{amount(self_us / 1000 / Math.max(1, views), scale)}</span>
              </a>
            </li>
          );
        })}
      </ul>
      {rows.length > mostListed && <p class="hint">{rows.length - mostListed} more: use the filter.</p>}
    </>
  );
}

/** The callers or callees of a function. */
export function Around({ direction, of, scale }: { direction: 'callers' | 'callees'; of: Place; scale: Scale }) {
  const { selection } = useView();
  const query = around(direction, selection, of, 1000);
  const shown = useQuery(query);
  return (
    <Panel title={direction == 'callers' ? 'Callers' : 'Callees'} query={query} shown={shown}>
      {(response) => <CallTree response={response} scale={scale} kind={direction} />}
    </Panel>
  );
}
