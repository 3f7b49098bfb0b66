// The changes from A to B, and whether they are more than noise.

import { useEffect } from 'preact/hooks';
import { catalog, compare, newest, tree } from '../../api/queries.ts';
import { otherSideOf, type OtherSide } from '../../api/selection.ts';
import type { Comparison } from '../../api/types.ts';
import { change, go } from '../../state/location.ts';
import { useQuery } from '../../state/responses.ts';
import { changed, hrefOf, linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { releasesOf } from '../../widgets/lines.ts';
import { Metric } from '../../widgets/Metric.tsx';
import { NamesRemark, Notice } from '../../widgets/Notice.tsx';
import { capital, count, number, percent, signed } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { CallTree } from '../code/CallTree.tsx';
import { Tabs } from '../parts/Tabs.tsx';
import { Changes, FeatureChanges } from './Changes.tsx';
import { Sides } from './Sides.tsx';
import { beginning, between, explanation, verdictOf } from './verdict.ts';
import '../parts/detail.css';

export function Compare() {
  const { place, selection } = useView();
  const other = otherSideOf(place.params);
  const stored = useQuery(catalog());
  const names = releasesOf(stored.response, selection.page).map(({ name }) => name);
  const { response: pair } = useQuery(other ? undefined : newest(selection));
  const { release, compare_release } = pair ?? {};
  useEffect(() => {
    if (!other && release && compare_release) change({ release, compare_release }, true);
  }, [!other, release, compare_release]);
  return (
    <div class="page detail">
      <header class="title">
        <h1>Compare</h1>
        <div class="actions row">
          <select
            aria-label="Compare by"
            value={place.params.get('by') ?? ''}
            onChange={(event) => change({ by: event.currentTarget.value })}
          >
            <option value="">by function</option>
            <option value="file">by file</option>
            <option value="package">by package</option>
            <option value="owner">by owner</option>
          </select>
          {other && (
            <button type="button" onClick={() => go(swapped(place.params))}>
              Swap A and B
            </button>
          )}
        </div>
      </header>
      <Sides releases={names} other={other} />
      {other ? (
        <Result other={other} />
      ) : (
        pair &&
        !compare_release && (
          <Notice>
            <p>{pair.missing}. Choose another comparison, such as by time, device or page.</p>
          </Notice>
        )
      )}
    </div>
  );
}

/** Returns the URL with A and B exchanged. */
export function swapped(params: URLSearchParams): string {
  const next = new URLSearchParams(params);
  for (const key of ['page', 'feature', 'release', 'since', 'until', 'label']) {
    const there = params.getAll(`compare_${key}`);
    if (!there.length) continue;
    const here = params.getAll(key);
    next.delete(key);
    next.delete(`compare_${key}`);
    for (const value of there) if (value) next.append(key, value);
    for (const value of here.length ? here : ['']) next.append(`compare_${key}`, value);
  }
  return hrefOf('compare', changed(next, {}));
}

function Result({ other }: { other: OtherSide }) {
  const { place, selection } = useView();
  const by = place.params.get('by') || undefined;
  const query = compare(selection, other, { by, min_views: place.params.get('min_views') || undefined });
  const shown = useQuery(query);
  return (
    <>
      <Panel title="Verdict" query={query} shown={shown}>
        {(response) => <Verdict of={response} />}
      </Panel>
      {shown.response && (
        <Tabs
          name="What changed"
          tabs={[
            {
              key: 'table',
              title: 'Changes',
              body: () => (
                <>
                  {shown.response!.features.length > 0 && (
                    <Panel title="Changes by feature" query={query}>
                      <FeatureChanges of={shown.response!} />
                    </Panel>
                  )}
                  <Panel title={by ? `Changes by ${by}` : 'Changes by function'} query={query}>
                    <Changes of={shown.response!} by={by} />
                  </Panel>
                </>
              ),
            },
            { key: 'flame', title: 'Flame graph', body: () => <Difference other={other} /> },
            { key: 'mix', title: 'Traffic', body: () => <Traffic of={shown.response!} /> },
          ]}
        />
      )}
    </>
  );
}

function Verdict({ of }: { of: Comparison }) {
  const verdict = verdictOf(of);
  const { total, views } = of;
  return (
    <>
      <p class={`verdict large ${verdict.status.replaceAll(' ', '-')}`}>
        <strong>{beginning[verdict.status]}</strong>
        {verdict.sentence}
      </p>
      <dl class="metrics">
        <Metric
          hero
          name="Change"
          term="noise"
          value={`${signed(total.change_ms.value)} ms`}
          beside={between(total.change_ms)}
        />
        <Metric
          name="A, mean"
          term="perView"
          value={`${number(total.mean_ms.a)} ms`}
          beside={`${count(views.a)} page views`}
        />
        <Metric
          name={total.mix_ms ? 'B, adjusted mean' : 'B, mean'}
          term="mix"
          value={`${number(total.mean_ms.b)} ms`}
          beside={`${count(views.b)} page views`}
        />
      </dl>
      {explanation(total) && <p class="hint">{explanation(total)}</p>}
      {!of.enough && <Fewer of={of} />}
      {verdict.remarks.map((remark) => (
        <Notice key={remark}>
          <p>{remark}</p>
        </Notice>
      ))}
      <details class="hint">
        <summary>How this was computed</summary>
        <p>
          The verdict has a {number(100 * total.level)}&nbsp;% interval. {capital(of.note)}. {of.method};{' '}
          {count(of.tested_functions)} functions were tested; at most {percent(of.false_discovery)} of the reported
          changes are expected to be false positives.
        </p>
      </details>
      <NamesRemark names={of.names} />
    </>
  );
}

/** A link that lowers the required number of page views. */
function Fewer({ of }: { of: Comparison }) {
  const { place } = useView();
  const least = Math.floor(Math.min(of.views.a, of.views.b));
  if (place.params.has('min_views') || least < 2) return null;
  return (
    <p>
      <a href={linkHere(place, { min_views: String(Math.max(2, Math.floor(least / 4))) })}>
        Compare these {count(of.views.a)} and {count(of.views.b)} page views anyway
      </a>
      , with wide intervals.
    </p>
  );
}

function Difference({ other }: { other: OtherSide }) {
  const { selection, place } = useView();
  const query = tree(selection, { max_nodes: 20_000, root: place.params.get('root') ?? undefined }, other);
  const shown = useQuery(query);
  return (
    <Panel title="Differential flame graph" tab query={query} shown={shown}>
      {(response) => {
        const views = Math.max(1, response.views);
        const wholeMs = response.total_us / 1000 / views;
        return <CallTree response={response} scale={{ unit: 'ms', hoursPerMs: 0, perDay: false, wholeMs }} />;
      }}
    </Panel>
  );
}

const trafficTitles = ['group', 'views A', 'views B', 'share A', 'share B', 'mean A, ms', 'mean B, ms', 'used'];

function Traffic({ of }: { of: Comparison }) {
  const { place } = useView();
  return (
    <Panel title="Groups of comparable page views">
      <div class="table" tabIndex={0} role="group" aria-label="Groups of page views">
        <table>
          <thead>
            <tr>
              {trafficTitles.map((title, i) => (
                <th key={title} scope="col" class={i ? 'number' : 'text'}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {of.strata.map((stratum) => (
              <tr key={JSON.stringify(stratum.labels)}>
                <td class="text">
                  <a href={linkHere(place, { label: conditionsOf(stratum.labels) })}>
                    {Object.values(stratum.labels).join(', ') || '(none)'}
                  </a>
                </td>
                <td class="number">{count(stratum.views.a)}</td>
                <td class="number">{count(stratum.views.b)}</td>
                <td class="number">{percent(stratum.share.a)}</td>
                <td class="number">{percent(stratum.share.b)}</td>
                <td class="number">{number(stratum.mean_ms.a)}</td>
                <td class="number">{number(stratum.mean_ms.b)}</td>
                <td class="number">{stratum.use}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

/** Returns the conditions for these values of labels. */
function conditionsOf(labels: Record<string, string>): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}
