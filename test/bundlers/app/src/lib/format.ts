const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR', maximumFractionDigits: 0 });
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

const memoized = <A, R>(call: (value: A) => R) => {
  const known = new Map<A, R>();
  return (value: A): R => {
    if (!known.has(value)) known.set(value, call(value));
    return known.get(value)!;
  };
};

export const formatDay = memoized((time: number) => day.format(time));
export const formatMoney = memoized((amount: number) => money.format(amount));

export default (tonnes: number) => `${tonnes.toLocaleString('en')} t`;
