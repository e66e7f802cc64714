import { useEffect, useState } from 'preact/hooks';

const EVERY_MS = 20_000;

/** The present, for ages: it goes on by itself every twenty seconds. */
export const useNow = (): number => {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};
