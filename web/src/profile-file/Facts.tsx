// Facts about a profile, and limits of its file format.

import { change, count, msOf, shown, time, type Scale } from '../tree/format.ts';
import type { Profile } from './data.ts';
import { Fact } from './Fact.tsx';
import { ThreadChoice, ThreadTimes } from './Threads.tsx';
import type { Thread } from './threads.ts';

interface Props {
  profile: Profile;
  /** The shown threads of the recordings, and the key of the choice: see ThreadChoice. */
  threads: readonly Thread[];
  chosen: string;
  onChoose(key: string): void;
}

/** The time, page views or threads of the profile, and of the other side of a comparison. */
export function Facts({ profile, threads, chosen, onChoose }: Props) {
  const { tree, title, of, since, until, selection, base_selection: baseSelection, traces } = profile;
  const { total, baseTotal, views, baseViews } = tree;
  const compared = baseTotal != undefined;
  return (
    <dl class="facts">
      {views == 0 && threads.length > 0 ? (
        <>
          <ThreadChoice
            threads={profile.threads}
            summed={profile.threads.filter((one) => one.shown)}
            chosen={chosen}
            onChoose={onChoose}
          />
          <ThreadTimes threads={threads} base={profile.base_threads} />
        </>
      ) : (
        <Fact name={views > 1 ? `${of} per page view` : of}>
          <strong>{time(msOf(total[0]!, views))}</strong>
          {compared && <Change profile={profile} />}
        </Fact>
      )}
      {views > 0 && (
        <Fact name="Page views">
          {count(views)}
          {compared && <span class="quiet">, before {count(baseViews)}</span>}
          {traces > views && <span class="quiet">, {count(traces)} traces</span>}
        </Fact>
      )}
      {since && until && (
        <Fact name="Time, UTC">
          {minute(since)} to {minute(until)}
        </Fact>
      )}
      {selection && selection != title && (
        <Fact name="Selection">
          <bdi>{shown(selection, 200)}</bdi>
        </Fact>
      )}
      {compared && (
        <Fact name="Compared with">
          <bdi>{shown(baseSelection || 'another profile', 200)}</bdi>
        </Fact>
      )}
    </dl>
  );
}

function Change({ profile: { tree } }: { profile: Profile }) {
  const { total, baseTotal, views, baseViews } = tree;
  const before = baseTotal?.[0] ?? 0;
  const difference = msOf(total[0]!, views) - msOf(before, baseViews);
  const scale: Scale = { unit: 'ms', views, total: total[0]! };
  return (
    <span class={difference > 0 ? 'slower' : difference < 0 ? 'faster' : ''}>
      {' '}
      {difference != 0 && <span aria-hidden="true">{difference > 0 ? '▲' : '▼'}</span>}{' '}
      {change(total[0]!, scale, before, { ...scale, views: baseViews })}
    </span>
  );
}

/** Formats an RFC 3339 time for people, in UTC. */
function minute(text: string): string {
  const when = new Date(text);
  return Number.isNaN(when.getTime()) ? text : when.toISOString().slice(0, 16).replace('T', ' ');
}

/** Lists what the file omits. */
export function Remarks({ profile: { tree, pruned, cut, other_threads: others = 0 } }: { profile: Profile }) {
  return (
    <>
      {pruned.nodes > 0 && (
        <p class="hint">
          {count(pruned.nodes)} small calls, together {time(msOf(pruned.self_us, tree.views))}
          {tree.views > 1 && ' per page view'}, are not in this file: (other) represents them, also in the table of
          functions.
        </p>
      )}
      {others > 0 && <p class="hint">{count(others)} more threads are not in this file.</p>}
      {cut && <p class="hint">Long names were shortened to fit into the file.</p>}
    </>
  );
}
