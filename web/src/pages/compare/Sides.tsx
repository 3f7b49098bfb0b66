// The controls that choose the two sides of a comparison.

import { useState } from 'preact/hooks';
import { rangeOf, type OtherSide, type Selection } from '../../api/selection.ts';
import { change } from '../../state/location.ts';
import { useView } from '../../state/view.ts';
import { cut, moment, visible } from '../../widgets/numbers.ts';
import { Popover } from '../../widgets/Popover.tsx';

interface Props {
  releases: readonly string[];
  other?: OtherSide;
}

/**
 * The two sides. B is the selection of the filters; A is the same, apart from the choices made
 * here.
 */
export function Sides({ releases, other }: Props) {
  const { selection } = useView();
  return (
    <div class="sides">
      <Side name="A" of={otherSelection(selection, other)}>
        <Popover button="Choose…">{(close) => <Chooser releases={releases} other={other} close={close} />}</Popover>
        <ReleasePicker side="compare_release" releases={releases} value={other?.release ?? selection.release} />
      </Side>
      <Side name="B" of={selection}>
        <ReleasePicker side="release" releases={releases} value={selection.release} />
      </Side>
    </div>
  );
}

/**
 * Returns the selection of the other side. If it has a start but no end, it ends where the first
 * side starts.
 */
export function otherSelection(selection: Selection, other: OtherSide = {}): Selection {
  const all = { ...selection, ...other, label: mergedLabels(selection.label, other.label) };
  if (other.since && !other.until) all.until = new Date(rangeOf(selection, Date.now()).from).toISOString();
  return all;
}

/**
 * Returns the labels of the other side: its own conditions replace conditions with the same key.
 */
export function mergedLabels(labels: readonly string[], other: readonly string[] = []): string[] {
  const key = (label: string) => label.split(/[=!]/, 1)[0];
  const own = new Set(other.map(key));
  return [...labels.filter((label) => !own.has(key(label))), ...other];
}

function Side({ name, of, children }: { name: string; of: Selection; children: preact.ComponentChildren }) {
  const { from, to } = rangeOf(of, Date.now());
  const parts = [of.page && `page ${of.page}`, of.feature && `feature ${of.feature}`, ...of.label].filter(Boolean);
  return (
    <section class="side" aria-label={`Side ${name}`}>
      <h2>{name}</h2>
      <div>
        <p>
          {of.release ? `release ${visible(cut(of.release, 60))}` : 'all releases'}
          {parts.length > 0 && ` · ${visible(cut(parts.join(' · '), 160))}`}
        </p>
        <p class="hint">
          {moment(from)} – {moment(to)}
        </p>
      </div>
      <div class="row">{children}</div>
    </section>
  );
}

function ReleasePicker({ side, releases, value }: { side: string; releases: readonly string[]; value: string }) {
  const names = value && !releases.includes(value) ? [...releases, value] : releases;
  if (!names.length) return null;
  return (
    <select aria-label="Release" value={value} onChange={(event) => change({ [side]: event.currentTarget.value })}>
      {!value && <option value="">all releases</option>}
      {[...names].reverse().map((name) => (
        <option key={name} value={name}>
          {visible(cut(name, 60))}
        </option>
      ))}
    </select>
  );
}

const before = [
  {
    name: 'the same time before',
    since: { '1h': '2h', '6h': '12h', '24h': '48h', '7d': '14d', '30d': '60d', '90d': '180d' },
  },
];

/** A form for the other side. Empty fields are the same as in B. */
function Chooser({ releases, other, close }: Props & { close: () => void }) {
  const { selection } = useView();
  const [since, setSince] = useState(other?.since ?? '');
  const earlier = before[0]!.since[selection.since as '24h'];
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    change({
      compare_release: text('release'),
      compare_page: text('page'),
      compare_feature: text('feature'),
      compare_since: text('since'),
      compare_until: text('until'),
      compare_label: text('label')
        .split(/\s*\n\s*/)
        .filter(Boolean),
    });
    close();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <p>A equals B, except for the fields filled in here.</p>
      <label>
        Release
        <input name="release" list="side-releases" defaultValue={other?.release} />
      </label>
      <datalist id="side-releases">
        {releases.slice(-100).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        Since (24h, 2026-11-20)
        <input name="since" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
      </label>
      {earlier && (
        <button type="button" onClick={() => setSince(earlier)}>
          The {selection.since} before
        </button>
      )}
      <label>
        Until (empty: when B starts)
        <input name="until" defaultValue={other?.until} />
      </label>
      <label>
        Page
        <input name="page" defaultValue={other?.page} />
      </label>
      <label>
        Feature
        <input name="feature" defaultValue={other?.feature} />
      </label>
      <label>
        Labels, one per line (device=mobile-low)
        <textarea name="label" rows={2} defaultValue={other?.label?.join('\n')} />
      </label>
      <button type="submit">Compare</button>
    </form>
  );
}
