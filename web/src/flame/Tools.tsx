// Controls above a flame graph for its appearance.

import type { ComponentChildren } from 'preact';
import type { Colouring } from '../tree/colour.ts';
import type { Widths } from './layout.ts';

/** The graph, the same tree as rows, or both side by side. */
export type View = 'graph' | 'rows' | 'both';

interface Props {
  compared: boolean;
  colouring: Colouring;
  setColouring(colouring: Colouring): void;
  view: View;
  setView(view: View): void;
  upwards?: boolean;
  /** If absent, there is only one direction. */
  setUpwards?(upwards: boolean): void;
  widths?: Widths;
  setWidths?(widths: Widths): void;
  onKeys(): void;
  /** Further controls, in front of the others. */
  children?: ComponentChildren;
}

const views: Record<View, string> = { graph: 'Graph', rows: 'Rows', both: 'Both' };
const colourings: Record<Colouring, string> = { owner: 'owner', file: 'file', self: 'self time', change: 'change' };
const sides: Record<Widths, string> = { B: 'now', A: 'before', max: 'the larger' };

/** Controls for the content and appearance. */
export function Tools(props: Props) {
  const { compared, colouring, view, upwards, setUpwards, widths, setWidths } = props;
  const graph = view != 'rows';
  const possible = (Object.keys(colourings) as Colouring[]).filter((key) => compared || key != 'change');
  return (
    <div class="flame-switches">
      {props.children}
      {graph && (
        <Choice label="Colour" value={colouring} values={possible} names={colourings} onValue={props.setColouring} />
      )}
      {graph && compared && widths && setWidths && (
        <Choice
          label="Width"
          value={widths}
          values={Object.keys(sides) as Widths[]}
          names={sides}
          onValue={setWidths}
        />
      )}
      {graph && setUpwards && (
        <button
          type="button"
          class="flame-button"
          aria-pressed={upwards}
          title="Callers at the bottom"
          onClick={() => setUpwards(!upwards)}
        >
          Upwards
        </button>
      )}
      <div class="flame-segments" role="group" aria-label="Show as">
        {(Object.keys(views) as View[]).map((each) => (
          <button key={each} type="button" aria-pressed={view == each} onClick={() => props.setView(each)}>
            {views[each]}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="flame-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={props.onKeys}
      >
        ?
      </button>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  values: readonly T[];
  names: Record<T, string>;
  onValue(value: T): void;
}

function Choice<T extends string>({ label, value, values, names, onValue }: ChoiceProps<T>) {
  return (
    <label class="flame-choice">
      {label}{' '}
      <select value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
        {values.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </label>
  );
}
