import { useMemo, useState } from 'preact/hooks';
import { html } from '../components.ts';
import { counted, formatDay } from '../format.ts';
import { dayOf, type Happening } from './activity-model.ts';

/** A year of days as squares: the darker, the more transactions of those that are loaded. */

const DAYS = 7;
const [YEAR, HALF] = [53, 27];
/** A wallet without activity for longer shows the year before its last activity. */
const STILL_DAYS = 56;
const CELL = 12;
const SQUARE = 10;
const TOP = 14;
/** How much of the accent is in a square's colour, in percent: in four steps, of which none is too faint to see. */
const partOf = (count: number, most: number): number =>
  count === 0 ? 0 : 20 + 20 * Math.ceil((4 * count) / most);

const monthName = new Intl.DateTimeFormat('en', { month: 'short' });

/** The days of some weeks, from Monday on, up to the present week. */
const daysUntil = (last: Date, weeks: number): readonly Date[] => {
  const [year, month, date] = [last.getFullYear(), last.getMonth(), last.getDate()];
  const sinceMonday = (last.getDay() + DAYS - 1) % DAYS;
  const count = (weeks - 1) * DAYS + sinceMonday + 1;
  // By the calendar: a day of a time change has 23 or 25 hours.
  return Array.from({ length: count }, (_, index) => new Date(year, month, date - count + 1 + index));
};

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  ArrowLeft: -DAYS,
  ArrowRight: DAYS,
  Home: -DAYS * YEAR,
  End: DAYS * YEAR,
};

type Props = {
  /** What the ids of days begin with. */
  name: string;
  happenings: readonly Happening[];
  /** Whether the list has older transactions that are not loaded. */
  hasMore: boolean;
  /** The days that are shown; empty for all. */
  from: string;
  to: string;
  /** A day, or an empty text for all days. */
  onPick: (day: string) => void;
};

const transactionsIn = (count: number): string => counted(count, 'transaction', 'transactions');

/** A year of activity, which a click on a day filters. The arrow keys move between days, and Enter chooses one. */
export const Year = ({ name, happenings, hasMore, from, to, onPick }: Props) => {
  const counts = useMemo(() => {
    const byDay = new Map<string, number>();
    for (const { day } of happenings) byDay.set(day, (byDay.get(day) ?? 0) + 1);
    return byDay;
  }, [happenings]);
  const newest = happenings[0];
  const oldest = happenings.reduce((first, { day }) => (day < first ? day : first), newest?.day ?? '');
  const today = dayOf(new Date());
  const [weeks] = useState(() => (matchMedia('(min-width: 40rem)').matches ? YEAR : HALF));
  const days = useMemo(() => {
    const now = new Date();
    const still = new Date(now.getFullYear(), now.getMonth(), now.getDate() - STILL_DAYS);
    return daysUntil(newest && newest.day < dayOf(still) ? new Date(newest.time) : now, weeks);
  }, [newest, today, weeks]);
  const [focused, setFocused] = useState('');
  const names = days.map(dayOf);
  const current = [focused, from, newest?.day].find((day) => day && names.includes(day)) ?? names.at(-1);
  const most = Math.max(1, ...counts.values());
  const earlier = happenings.filter(({ day }) => day < (names[0] ?? '')).length;
  const isPicked = (day: string) => (from !== '' || to !== '') && day >= from && (to === '' || day <= to);
  const pick = (day: string) => onPick(from === day && to === day ? '' : day);

  const onKeyDown = (event: KeyboardEvent) => {
    const index = names.indexOf(current ?? '');
    const day = names[index];
    if (day !== undefined && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      return pick(day);
    }
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = names[Math.min(names.length - 1, Math.max(0, index + step))];
    if (next === undefined) return;
    setFocused(next);
    document.getElementById(`${name}-${next}`)?.focus();
  };

  const [width, height] = [weeks * CELL, TOP + DAYS * CELL];
  return html`<figure class="year">
    <figcaption class="bar quiet small"><span>The ${transactionsIn(happenings.length)} loaded, by day</span>
      <span class="push">${hasMore && oldest !== '' ? `Back to ${formatDay(oldest)}: earlier days are not loaded.` : earlier > 0 && `${transactionsIn(earlier)} earlier.`}</span></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} role="group" aria-label="Transactions by day: the arrow keys move, Enter shows one day" onKeyDown=${onKeyDown}>
      ${days.map((day, index) => {
        const id = names[index] ?? '';
        const [column, row] = [Math.floor(index / DAYS), index % DAYS];
        const count = counts.get(id) ?? 0;
        const isUnknown = hasMore && id < oldest;
        const label = isUnknown
          ? `${formatDay(id)}: not loaded`
          : `${formatDay(id)}: ${transactionsIn(count)}`;
        const isFirstOfMonth = row === 0 && day.getDate() <= DAYS && column < weeks - 2;
        return html`${isFirstOfMonth && html`<text x=${column * CELL} y="9" aria-hidden="true">${monthName.format(day)}</text>`}
          <rect key=${id} id=${`${name}-${id}`} class=${isUnknown ? 'is-unknown' : ''} style=${{ '--part': `${partOf(count, most)}%` }} x=${column * CELL + 1} y=${TOP + row * CELL + 1} width=${SQUARE} height=${SQUARE} rx="2" role="button" tabindex=${id === current ? 0 : -1} aria-pressed=${isPicked(id)} aria-label=${label} onClick=${() => pick(id)} onFocus=${() => setFocused(id)}><title>${label}</title></rect>`;
      })}
    </svg>
  </figure>`;
};
