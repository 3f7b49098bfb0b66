import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import { climateOf, comparisons, mean, type Climate, type Column } from './data/climate';
import { loadStations } from './data/stations';

export const useStations = defineStore('stations', () => {
  const climates = shallowRef<Climate[]>([]);
  const column = ref<Column>('name');
  const down = ref(false);
  const query = ref('');

  const found = computed(() => {
    const word = query.value.trim().toLowerCase();
    return climates.value.filter(({ station }) => station.name.toLowerCase().includes(word));
  });

  const sorted = computed(function sortFound() {
    const compare = comparisons[column.value];
    return [...found.value].sort((a, b) => (down.value ? compare(b, a) : compare(a, b)));
  });

  /** The means of all days over the stations found. */
  const year = computed(() =>
    Array.from({ length: 365 }, (_, day) => mean(found.value.map(({ station }) => station.readings[day]!))),
  );

  async function load(count: number) {
    climates.value = (await loadStations(count)).map(climateOf);
  }

  function sortBy(by: Column) {
    down.value = column.value == by && !down.value;
    column.value = by;
  }

  return { climates, column, query, sorted, year, load, sortBy };
});
