// How the time of a selection is distributed: as a tree, by function, by owner, package and file.

import { useState } from 'preact/hooks';
import { top, tree } from '../../api/queries.ts';
import type { OtherSide } from '../../api/selection.ts';
import type { Point } from '../../api/types.ts';
import { change } from '../../state/location.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Remarks } from '../../widgets/Notice.tsx';
import { Panel } from '../../widgets/Panel.tsx';
import type { Scale } from '../../widgets/unit.ts';
import { Kinds } from '../parts/Kinds.tsx';
import { Tabs, type Tab } from '../parts/Tabs.tsx';
import { CallTree } from './CallTree.tsx';
import { Functions } from './Functions.tsx';
import { Sandwich } from './Sandwich.tsx';

/** Maximum number of listed functions. */
const mostFunctions = 500;

interface BreakdownProps {
  scale: Scale;
  /** Total of the selection, including time outside JavaScript. */
  point?: Point;
  other?: OtherSide;
  more?: readonly Tab[];
}

/** The distribution of time, in tabs. */
export function Breakdown({ scale, point, other, more = [] }: BreakdownProps) {
  return (
    <Tabs
      name="Where the time goes"
      tabs={[
        { key: 'flame', title: 'Flame graph', body: () => <Flame scale={scale} other={other} /> },
        { key: 'top', title: 'Top functions', body: () => <TopPanel by="function" scale={scale} /> },
        { key: 'sandwich', title: 'Sandwich', body: () => <Sandwich scale={scale} /> },
        { key: 'code', title: 'By owner, package, file', body: () => <Parts scale={scale} point={point} /> },
        ...more,
      ]}
    />
  );
}

function Flame({ scale, other }: { scale: Scale; other?: OtherSide }) {
  const { selection, place } = useView();
  const query = tree(selection, { max_nodes: 20_000, root: place.params.get('root') ?? undefined }, other);
  const shown = useQuery(query);
  return (
    <Panel title="Flame graph" tab query={query} shown={shown}>
      {(response) => (
        <>
          <CallTree response={response} scale={scale} />
          <Remarks stats={response.stats as Parameters<typeof Remarks>[0]['stats']} />
        </>
      )}
    </Panel>
  );
}

const parts = ['owner', 'package', 'file', 'team'] as const;

function Parts({ scale, point }: Pick<BreakdownProps, 'scale' | 'point'>) {
  const { place } = useView();
  const by = parts.find((one) => one == place.params.get('by')) ?? 'owner';
  const links = parts.map((one) => (
    <a key={one} href={linkHere(place, { by: one, sort: '' })} aria-current={one == by ? 'true' : undefined}>
      {one}
    </a>
  ));
  return (
    <>
      <TopPanel by={by} scale={scale}>
        <nav class="segments" aria-label="Group by">
          {links}
        </nav>
      </TopPanel>
      {point && (
        <Panel title="Profiled time per page view">
          <Kinds point={point} />
        </Panel>
      )}
    </>
  );
}

/** A table of functions, or of parts of the code, with a filter. */
export function TopPanel({ by, scale, children }: { by: string; scale: Scale; children?: preact.ComponentChildren }) {
  const { place, selection } = useView();
  const query = top(selection, { by: by == 'function' ? undefined : by, limit: mostFunctions });
  const shown = useQuery(query);
  const [filter, setFilter] = useState(place.params.get('q') ?? '');
  const search = (text: string) => {
    setFilter(text);
    change({ q: text }, true);
  };
  return (
    <Panel
      title={by == 'function' ? 'Functions' : `Time by ${by}`}
      beside={
        <div class="row">
          {children}
          <input
            type="search"
            placeholder="Filter"
            aria-label="Filter by name or file"
            value={filter}
            onInput={(event) => search(event.currentTarget.value)}
          />
        </div>
      }
      query={query}
      shown={shown}
    >
      {(response) => (
        <Functions
          top={response}
          scale={scale}
          by={by}
          filter={filter}
          order={place.params.get('sort') ?? '-self'}
          onOrder={(sort) => change({ sort }, true)}
        />
      )}
    </Panel>
  );
}
