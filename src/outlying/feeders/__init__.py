"""Who feeds a pass: engines that read a table as a stream of batches."""
