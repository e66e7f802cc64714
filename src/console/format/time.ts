const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const absolute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_557_600, 'year'],
  [2_629_800, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** How long ago it was: `4 min. ago`. */
export const formatAge = (time: string, now: number): string => {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  for (const [size, unit] of STEPS)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return relative.format(Math.min(seconds, 0), 'second');
};

/** The time in UTC, to the second. */
export const formatTime = (time: string): string => `${absolute.format(new Date(time))} UTC`;
