// Notices: errors, missing data, and remarks on a response.

import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/problem.ts';
import type { Names, Stats } from '../api/types.ts';
import type { Shown } from '../state/responses.ts';
import { cut, percent, plural } from './numbers.ts';

/** A remark. Screen readers announce bad ones immediately. */
export function Notice({ kind = 'note', children }: { kind?: 'note' | 'bad'; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind == 'bad' ? 'alert' : 'note'}>
      {children}
    </div>
  );
}

/** The error of a query, with its remedy. */
export function ProblemNotice({ problem, again }: { problem: Problem; again?: () => void }) {
  return (
    <Notice kind="bad">
      <p>
        <strong>{problem.remedy}</strong> <span class="said">{cut(problem.message, 500)}</span>
      </p>
      {again && problem.status != 401 && (
        <button type="button" onClick={again}>
          Retry
        </button>
      )}
    </Notice>
  );
}

/**
 * The state of a missing response: an error, waiting or cancelled. It is empty if there is a
 * response, and if the daemon is unreachable, which the page reports once.
 */
export function State({ of }: { of: Shown<unknown> }) {
  if (of.problem?.status == 0) return null;
  if (of.problem) return <ProblemNotice problem={of.problem} again={of.again} />;
  if (of.cancelled) {
    return (
      <Notice>
        <p>The query was cancelled.</p>
        <button type="button" onClick={of.again}>
          Retry
        </button>
      </Notice>
    );
  }
  if (of.pendingSince != undefined && (of.response == undefined || of.old)) {
    return (
      <div class="pending" role="status">
        <span class="bar" />
        <span>{of.waiting ? of.waiting.remedy : 'Loading…'}</span>
        <button type="button" onClick={of.cancel}>
          Cancel
        </button>
      </div>
    );
  }
  return null;
}

/** Remarks on a response: missing spreads, warnings, and code without readable names. */
export function Remarks({ noSpread, stats, warnings = [] }: { noSpread?: string; stats?: Stats; warnings?: string[] }) {
  const all = [...warnings, ...(stats?.warnings ?? [])];
  const folded = stats?.folded_views;
  if (!noSpread && !all.length && !folded) return null;
  return (
    <div class="remarks" role="note">
      {noSpread && <p>No percentiles or intervals: {cut(noSpread, 300)}.</p>}
      {folded ? (
        <p>Up to {plural(folded, 'page view')} may be missing: their labels were not stored separately.</p>
      ) : null}
      {all.map((text) => (
        <p key={text}>{cut(text, 500)}</p>
      ))}
    </div>
  );
}

/** The share of code with readable names, and a remedy for the rest. */
export function NamesRemark({ names }: { names?: Names }) {
  const missing = names?.missing?.filter((script) => script.self_us > 0) ?? [];
  if (!names || !names.self_us || !missing.length) return null;
  return (
    <details class="remarks">
      <summary>
        {percent(names.named_us / names.self_us)} of the script time has source names;{' '}
        {plural(missing.length + (names.more_missing ?? 0), 'script')} without symbols
      </summary>
      <ul>
        {missing.slice(0, 20).map((script) => (
          <li key={`${script.resource} ${script.release}`}>
            <bdi>{cut(script.resource, 160)}</bdi> ({percent(script.self_us / names.self_us)}): {script.problem}
          </li>
        ))}
      </ul>
      <p>
        Upload the symbols of each build: <code>upload --addr … --release … dist/</code>
      </p>
    </details>
  );
}
