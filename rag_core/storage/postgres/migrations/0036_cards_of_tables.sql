-- The cards of tables are made anew: the year of one was that of any cell.
UPDATE documents SET card_version = 0 WHERE card_version > 0 AND media_type IN (
    'text/csv', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.oasis.opendocument.spreadsheet', 'application/vnd.ms-excel',
    'application/vnd.ms-excel.sheet.binary.macroenabled.12'
);
