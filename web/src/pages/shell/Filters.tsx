// The filters of all pages: time, release, labels and unit.

import { useState } from 'preact/hooks';
import { catalog, labels } from '../../api/queries.ts';
import { noTimeOf, type Selection } from '../../api/selection.ts';
import { change } from '../../state/location.ts';
import { useQuery, useSettled } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { units, useView } from '../../state/view.ts';
import type { Filter } from '../../routes.tsx';
import { releasesOf } from '../../widgets/lines.ts';
import { cut, moment, visible } from '../../widgets/numbers.ts';
import { Popover } from '../../widgets/Popover.tsx';
import { unitTitle } from '../../widgets/unit.ts';

const presets = ['1h', '6h', '24h', '7d', '30d', '90d'];

/** The filters of a page. subject names the parameters that identify the page's subject. */
export function Filters({ subject, filters }: { subject: readonly string[]; filters: readonly Filter[] }) {
  return (
    <section class="filters" aria-label="Filters">
      {filters.includes('time') && <Times />}
      {filters.includes('release') && <Release />}
      {filters.includes('labels') && <Chips subject={subject} />}
      {filters.includes('unit') && <UnitSwitch />}
    </section>
  );
}

function Times() {
  const { place, selection, from, to } = useView();
  const custom = !presets.includes(selection.since) || selection.until != '';
  return (
    <nav class="segments" aria-label="Time">
      {presets.map((since) => (
        <a
          key={since}
          href={linkHere(place, { since, until: '' })}
          aria-current={!custom && since == selection.since ? 'true' : undefined}
        >
          {since}
        </a>
      ))}
      <Popover button={custom ? textOf(selection, from, to) : 'Other…'} class={custom ? 'chosen' : ''}>
        {(close) => <Range from={from} to={to} close={close} />}
      </Popover>
    </nav>
  );
}

/** Formats the time of a selection. An invalid time stays unchanged. */
function textOf(selection: Selection, from: number, to: number): string {
  const wrong = noTimeOf(selection);
  return wrong ? `${visible(cut(wrong, 30))}?` : `${moment(from)} – ${moment(to)}`;
}

/** Formats a time for form fields, in the time zone of the browser. */
function local(time: number): string {
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Range({ from, to, close }: { from: number; to: number; close: () => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const time = (name: string) => {
      const value = String(form.get(name) ?? '');
      return value && new Date(value).toISOString();
    };
    change({ since: time('from'), until: time('to') });
    close();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <label>
        From
        <input type="datetime-local" name="from" required defaultValue={local(from)} />
      </label>
      <label>
        To
        <input type="datetime-local" name="to" defaultValue={local(to)} />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

function Release() {
  const { selection } = useView();
  const settled = useSettled();
  const { response } = useQuery(settled ? catalog() : undefined);
  const names = releasesOf(response).map(({ name }) => name);
  if (selection.release && !names.includes(selection.release)) names.push(selection.release);
  if (!names.length) return null;
  return (
    <label class="release">
      <span>Release</span>
      <select value={selection.release} onChange={(event) => change({ release: event.currentTarget.value })}>
        <option value="">all</option>
        {names
          .reverse()
          .slice(0, 200)
          .map((name) => (
            <option key={name} value={name}>
              {visible(cut(name, 60))}
            </option>
          ))}
      </select>
    </label>
  );
}

function Chips({ subject }: { subject: readonly string[] }) {
  const { place, selection } = useView();
  const fixed = (['page', 'feature'] as const).filter((key) => selection[key] && !subject.includes(key));
  return (
    <div class="chips">
      {fixed.map((key) => (
        <Chip key={key} text={`${key}=${selection[key]}`} without={linkHere(place, { [key]: '' })} />
      ))}
      {selection.label.map((label) => (
        <Chip
          key={label}
          text={label}
          without={linkHere(place, { label: selection.label.filter((other) => other != label) })}
        />
      ))}
      <Popover button="+ Label" class="quiet">
        {(close) => <AddLabel close={close} />}
      </Popover>
    </div>
  );
}

function Chip({ text, without }: { text: string; without: string }) {
  const short = visible(cut(text, 60));
  return (
    <span class="chip" title={text}>
      <bdi>{short}</bdi>
      <a href={without} aria-label={`Remove ${short}`}>
        ×
      </a>
    </span>
  );
}

const commonKeys = ['page', 'feature', 'device', 'browser', 'connection', 'environment', 'phase', 'visibility'];

function AddLabel({ close }: { close: () => void }) {
  const { selection } = useView();
  const [key, setKey] = useState('device');
  const { response } = useQuery(labels(selection));
  const keys = new Set([...(response?.labels.map((label) => label.key) ?? []), ...commonKeys]);
  const values = response?.labels.find((label) => label.key == key)?.values ?? [];
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const label = `${key}${String(form.get('operator'))}${String(form.get('value'))}`;
    change({ label: [...selection.label.filter((other) => other != label), label] });
    close();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <label>
        Label
        <input
          name="key"
          list="label-keys"
          value={key}
          required
          pattern="[^=!~]+"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label>
        Condition
        <select name="operator">
          <option value="=">is</option>
          <option value="!=">is not</option>
          <option value="=~">matches</option>
          <option value="!~">does not match</option>
        </select>
      </label>
      <label>
        Value
        <input name="value" list="label-values" />
      </label>
      <datalist id="label-keys">
        {[...keys].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <datalist id="label-values">
        {values.slice(0, 200).map(({ value, views }) => (
          <option key={value} value={value} label={`${views} page views`} />
        ))}
      </datalist>
      <button type="submit">Add</button>
    </form>
  );
}

function UnitSwitch() {
  const { place, unit } = useView();
  return (
    <nav class="segments unit" aria-label="Unit">
      {units.map((one) => (
        <a
          key={one}
          href={linkHere(place, { unit: one == 'ms' ? '' : one })}
          aria-current={one == unit ? 'true' : undefined}
          title={unitTitle(one).long}
        >
          {one == 'ms' ? 'ms/view' : unitTitle(one).short}
        </a>
      ))}
    </nav>
  );
}
