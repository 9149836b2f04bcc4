-- A log of questions that nothing read: what it held stands in messages, with every answer's trace.
DROP TABLE queries;
