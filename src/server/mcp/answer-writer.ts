import { randomUUID } from 'node:crypto';
import { totalLength } from '../../lib/buffers.ts';
import { onAbort } from '../../lib/deadlines.ts';
import { escapeInSlices } from '../../lib/json/escape-in-slices.ts';
import { createMemoryBudget } from '../../lib/memory-budget.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import type { ToolAnswer } from './calls.ts';

/**
 * Writes answers into the JSON that the protocol's library makes around them. The library would copy a large one several
 * times, and hold the event loop meanwhile, so it gets a placeholder.
 */
export type AnswerWriter = {
  readonly placeholder: string;
  /**
   * Returns the JSON with the answer in place of the placeholder. Copies of large answers wait for one another, and for clients
   * that leave too much unread; they are expected to be sent within the turn of the event loop in which this resolves.
   */
  write(json: Buffer, answer: ToolAnswer, clientSignal: AbortSignal): Promise<readonly Buffer[]>;
};

/** An answer of no more does not wait. */
const LIGHT_BYTES = 256 * 1024;

/** Clients of ordinary networks read what is sent at this rate. */
const UNREAD_BYTES_PER_SECOND = 32 * 1024 * 1024;

/** `maxBytes` is the limit of one answer, and `isUnreadMemoryFull` says whether clients leave too much of answers unread. */
export const createAnswerWriter = (maxBytes: number, isUnreadMemoryFull: () => boolean): AnswerWriter => {
  const placeholder = randomUUID();
  const slices = createTimeSlices();
  const memory = createMemoryBudget(maxBytes / 2, {
    isOn: isUnreadMemoryFull,
    bytesPerSecond: UNREAD_BYTES_PER_SECOND,
  });

  const escapeLarge = async (chunks: readonly Buffer[], bytes: number, clientSignal: AbortSignal) => {
    const reservation = memory.reserve();
    reservation.grow(bytes);
    const stopListening = onAbort(clientSignal, reservation.release);
    try {
      while (!reservation.isAvailable() && !clientSignal.aborted) await reservation.available();
      return clientSignal.aborted ? [] : await escapeInSlices(chunks, slices);
    } finally {
      setImmediate(() => {
        stopListening();
        reservation.release();
      });
    }
  };

  return {
    placeholder,
    async write(json, answer, clientSignal) {
      const place = json.indexOf(placeholder);
      const chunks = typeof answer.json === 'string' ? [Buffer.from(answer.json)] : answer.json;
      const bytes = totalLength(chunks);
      try {
        // The library writes something else for a client that has left.
        if (place === -1) return [json];
        const escaped =
          bytes > LIGHT_BYTES
            ? await escapeLarge(chunks, bytes, clientSignal)
            : await escapeInSlices(chunks, slices);
        return [json.subarray(0, place), ...escaped, json.subarray(place + placeholder.length)];
      } finally {
        answer.release();
      }
    },
  };
};
