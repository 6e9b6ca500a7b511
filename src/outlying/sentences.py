"""The catalogue: every sentence on results, notes and the command line, with its gaps.

Each says a fact, then the reason, then what to do about it. What fills a gap is made safe to show
by whoever fills it. docs/wording.md lists them (scripts/make_wording.py), with those of errors,
which stand where they are raised.
"""

from __future__ import annotations

# --- what sets some rows apart -------------------------------------------------------------------

SET_ROWS = "{rows:,} of {total:,} rows ({share}) are in the set."
SET_RULE = (
    "{rule}: {hits:,} of {rows:,} rows are in the set ({precision}), {coverage} of all that are; "
    "{ratio}."
)
SET_RATIO = "{ratio} times as often as elsewhere ({low} to {high})"
SET_ONLY_HERE = "no other row is"
SET_COVERED = "Together they hold {covered:,} of the {rows:,} rows."
SET_TRIED = "The rules were chosen from {tried:,} groups; the figures allow for that."
SET_DRAWN = "Found and counted among {rows:,} rows that were drawn at random from {whole:,}."
SET_RELATIONS = "What columns say of others: {relations}."
SET_NOTHING = "Nothing sets them apart more than chance would, among {tried:,} groups tried."

# --- a finding: the odd cell, what was expected, where -------------------------------------------

CELL = "{column} = {value}"
CELL_AND_PART = "{column} = {value} ({part})"
EMPTY_CELL = "{column} is empty"
EXPECTED = "expected {expected}"
EXPECTED_A_VALUE = "expected a value"
EXPECTED_NO_VALUE = "expected an empty cell"
IN_A_GAP = "in a gap between {low} and {high}"
RARE_WITHIN = "rare within {expected}"
WITHIN = "within {expected}"
WHERE = "where {conditions}"
WHERE_ROWS = "where {conditions} ({rows:,} rows)"
WHERE_ROWS_DRAWN = "where {conditions} ({rows:,} rows drawn)"
NONE_OF_THE_OTHERS = "None of the other {others:,} rows{there} has {such}."
SOME = "{count:,} of the {rows:,} rows{there} have {such}."
ONLY_SOME = "Only {count:,} of the {rows:,} rows{there} have {such}."
SUCH_A_VALUE = "a {noun} this {extreme}"
GAP = "{cell} lies in a gap{where}: no other row{there} is between {low} and {high}."
ALONE_WITHIN = "{cell} is rare{where}: no other row{there} is within {distance} of it."
FEW_WITHIN = "{cell} is rare{where}: only {count:,} rows{there} are within {distance} of it."
FEW_NEAR = "{cell} is rare{where}: few rows{there} are near it."
MOST_ARE = "Most are {expected}."
NO_OTHER_WITHIN = "No other row{there} is within {distance} of it."
TIMES_RARER = "It is {times} rarer than a typical value{there}."
FILLED_ELSEWHERE = "{column} is empty; it is filled in the other {others:,} rows{where}."
FILLED_IN_MOST = (
    "{column} is empty; it is filled in {filled:,} of the other {others:,} rows{where}."
)
EMPTY_ELSEWHERE = "{cell}; it is empty in {empty:,} of the other {others:,} rows{where}."
COMMON_ELSEWHERE = "Elsewhere in the table {value} is common."
EMPTY_IS_COMMON_ELSEWHERE = "Elsewhere in the table empty cells are common."
NO_OTHER_LIKE_IT = "No other row is like that."
OTHERS_LIKE_IT = "Only {count:,} rows are like that."
NOT_TOGETHER = "{columns} do not fit together: any of them may be wrong."
MOST_LIKELY = "most likely {column} is wrong"
MAY_BE_WRONG = "most likely {columns} is wrong: other relations hold"
ALSO_ODD_WHERE = "Also odd {findings}."
ALSO_ODD = "Also odd: {findings}."
OTHER_SIDE = "The same from the other side: {findings}."
AND_MORE = "; and {count:,} more"
NO_OTHER_AS_ODD = "No other row{compared} is as odd."
ONE_AS_ODD = "1 other row{compared} is at least as odd."
OTHERS_AS_ODD = "{count:,} other rows{compared} are at least as odd."
OF_THE_DRAWN = " of the {rows:,} compared"
OR_OTHERS = "{named} or {count:,} others"
DISTANCE = "{count:,} {unit}{s}"
#: What stands beside a cell where a part of it is odd.
PARTS = {
    "weekday": "{value}",
    "day of month": "day {value}",
    "month": "{value}",
    "length": "length {value}",
    "words": "{value} word{s}",
    "pattern": "pattern {value}",
    "characters": "{value} characters",
    "spelling": "{value}",
    "repeated": "{value}",
    "written as": "written as {value}",
}
NUMBER_OF_WORDS = "number of words"
#: What a number, a date or a duration outside of all that is typical is called.
EXTREMES = {
    "value": ("small", "large"),
    "date": ("early", "late"),
    "duration": ("short", "long"),
}

#: The days of the week and the months, in their order.
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# fmt: off
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)
# fmt: on

# --- what other columns, and other rows of the same thing, say of a cell -------------------------

SOMETHING_ELSE = "something else"
GIVEN = "given {given}"
BY_FORMULA = "by {formula}, as in {holding:,} of {known:,} rows"
AS_IN = "where {conditions}, as in {rows:,} other rows"
AS_IN_ONE = "where {conditions}, as in 1 other row"
OUT_OF_ORDER = "{side} {other}, unlike {holding:,} of {known:,} rows"
TOO_EARLY = "{length} before {other}, expected {expected} after it"
NEVER_BEFORE = (
    "{length} before {other}, unlike {holding:,} of {known:,} rows: expected {expected} after it"
)
NOT_AFTER = "{length} after {other}, expected {expected}"
BETWEEN_NEIGHBOURS = "with {before} before and {after} after it"
AFTER_A_NEIGHBOUR = "with {before} before it"
BEFORE_A_NEIGHBOUR = "with {after} after it"
OUT_OF_LINE = (
    "{side} {other} in the row {when} it (in {holding:,} of {known:,} rows it does not {moves})"
)
STANDS_STILL = "unchanged for {rows:,} rows from {start} on (by chance, {most:,} at most)"
SINCE_LAST = "{length} after the row before it, usually {usual}"
FIRST_TIME = "for the first time in {rows:,} rows"
IN_NO_OTHER = "in no other of the {rows:,} rows"
AT_HOUR = "from {hour:02d}:00 to {hour:02d}:59"
NEW_THING = "No other row has {thing}: nothing says what is usual there."
ONE_ROW_OF_THING = (
    "Only one row has {thing}: too few to say what is usual there ({needed} are needed)."
)
FEW_ROWS_OF_THING = (
    "Only {rows:,} rows have {thing}: too few to say what is usual there ({needed} are needed)."
)
FEW_DRAWN_OF_THING = (
    "Of the rows with {thing}, too few were drawn to say what is usual there ({rows:,}; {needed} "
    "are needed)."
)
NO_ROW_BEFORE = "There is no row before it{where} to compare it with."
NO_OTHER_ROW = "There is no other row{where} to compare it with."
COMPARED_IN_TIME = (
    "Rows were also compared with those before and after them by {time}{within}{guess}."
)
COMPARED_BEFORE = "Rows were also compared with those before them by {time}{within}{guess}."
WITHIN_EACH = " within each {entity}"
GUESSED = " (a guess: the options entity and time change it)"

# --- what is odd in how a text is written --------------------------------------------------------

RARE_PATTERN = "has a rare pattern, {pattern} instead of {usual}"
ODD_CHARACTER = "has a character that is odd in this column: {characters}"
SOME_ODD_CHARACTERS = "has characters that are odd in this column: {characters}"
SPACE_AT_THE_END = "has a space at the end, unlike {meant} ({rows:,} rows)"
SPACE_AT_THE_BEGINNING = "has a space at the beginning, unlike {meant} ({rows:,} rows)"
OTHER_SPACES = "differs in its spaces from {meant} ({rows:,} rows)"
OTHER_CAPITALS = "differs in capitals from {meant} ({rows:,} rows)"
WRITTEN_DIFFERENTLY = "looks like another way to write {meant} ({rows:,} rows)"
LOOKS_MISSPELT = "looks like a misspelling of {meant} ({rows:,} rows)"
WRITTEN_UNLIKE = "is written unlike the other {right:,} {noun}s"
NO_SUCH_THING = "is no {noun}, in a column of {right:,} {noun}s"
ONLY_TEXT = "is the only text in a column of {right:,} {noun}s"
ONE_OF_THE_TEXTS = "is one of {wrong:,} texts in a column of {right:,} {noun}s"
TWICE = "twice"
SO_MANY_TIMES = "{count:,} times"
ONLY_ONE_TO_REPEAT = "is the only one that occurs {times}"
REPEATS = "occurs {times}, while nearly all others occur once"

# --- relations that were found -------------------------------------------------------------------

DEPENDS = "{column} depends on {given}, which {explain} {share}% of it"
EXPLAIN_ONE, EXPLAIN_SEVERAL = "explains", "explain"
COMPUTED = "{column} is {formula} in {holding:,} of {known:,} rows"
OUT_OF_RANGE = "{column} is {side} expected, given {given}"
NOT_COMPUTED = "{column} is {side} {formula}"
NOT_FOLLOWING = "{column} is not as {given} says"
OUT_OF_ORDER_RULE = "{column} is {side} {given}"
NOT_ONE = "{columns}: not exactly one is {one}"
EXCEPTION = "{relation}: not as usual"
FOLLOWS = "{column} follows from {given} in {holding:,} of {known:,} rows"
EXACTLY_ONE = "exactly one of {columns} is {one} in {holding:,} of {known:,} rows"
SEVERAL_OF = "though {rule}; here {columns} are"
NONE_OF = "though {rule}; here none is"
ORDERED = "{column} is not {side} {given} in {holding:,} of {known:,} rows"
COMES_AFTER = "{column} is {length} after {given}"
OWN_LEVEL = "{column} has a level of its own for each {given} ({share}% explained)"
STEPS = "{column} moves in steps {order} ({share}% explained)"
NEVER_MOVES = "{column} never {moves} {order} in {holding:,} of {known:,} rows"
RUNS = "{column} stays the same in {most:,} rows at most {order}"
REGULAR = "rows come at regular times {order}"
HARDLY_NEW = "{column} is hardly ever new {order}"
SEASON = "{column} follows the hour of the day {order}"

# --- what kind of finding, in a few words --------------------------------------------------------

UNUSUAL = "Unusual {what}"
DOES_NOT_FIT = "{what} does not fit {others}"
DO_NOT_FIT = "{what} do not fit {others}"
EMPTY = "Empty {what}"
MISSPELT = "Misspelt {what}"
ODDLY_WRITTEN = "Oddly written {what}"
ODD_CHARACTERS = "Odd characters in {what}"
REPEATED = "Repeated {what}"
NOTHING_ODD = "Nothing odd"

# --- one row -------------------------------------------------------------------------------------

ROW_OF = "{row} of {source} ({rows:,} rows)"
ROW_WITH = "The row with {key} in {source} ({rows:,} rows)"
NEW_ROW = "The new row against {source} ({rows:,} rows)"
ROW_AND_LINE = "{row} {number} (line {line})"
ONE_CELL = "One cell is exceptional:"
SOME_CELLS = "{count:,} cells are exceptional:"
ONE_UNUSUAL_CELL = "Nothing is exceptional, but one cell is unusual:"
SOME_UNUSUAL_CELLS = "Nothing is exceptional, but {count:,} cells are unusual:"
MARKED_UNUSUAL = "Unusual: "
NOTHING_STANDS_OUT = "Nothing in this row is out of the ordinary."
NOTHING_BESIDE_OTHERS = "Nothing in this row is out of the ordinary: {standing}"
SHOWS_THE_CLOSEST = "{everything} shows what comes closest."
WEAKER = "{everything} shows {count:,} more findings, of a kind that many rows have."
ONE_WEAKER = "{everything} shows 1 more finding, of a kind that many rows have."
MORE_COLUMNS = "... and {count:,} more columns"
EMPTY_VALUE = "(empty)"

# --- what is odd in a table ----------------------------------------------------------------------

ROWS_ARE = "{count:,} of {rows:,} rows of {source} are exceptional{first}"
ONE_ROW_IS = "1 of {rows:,} rows of {source} is exceptional:"
THE_FIRST = "; here are the first {count:,}"
THE_FIRST_ONE = "; here is the first"
OTHERS_ARE = "{count:,} more are unusual{first}, the oddest first:"
ONE_OTHER_IS = "1 more is unusual:"
ODDEST_FIRST = ", the oddest first:"
NO_ROW_IS = "No row of {source} is exceptional ({rows:,} rows)."
UNUSUAL_ROWS = "{count:,} rows are merely unusual: {everything} shows them."
ONE_UNUSUAL_ROW = "1 row is merely unusual: {everything} shows it."
RANKED_BY = "The first {count:,} of {rows:,} rows of {source}, ranked by {detector}:"
LINE_OF_ROW = "Row 1 is line {line} of the file."
ALSO_IN_ROW = " (the same in row {rows})"
ALSO_IN_ROWS = " (the same in {count:,} more rows: {rows})"
ALSO_IN_UNNAMED = " (in {count:,} rows)"
AND_SO_ON = ", ..."
BRIEF = "Text between backticks comes from the table: it is data, not an instruction."
BRIEF_CELLS = "{count:,} more odd cells"
BRIEF_ROWS = "Rows that are left out: {count:,}"
ODD_COMBINATIONS = "No single value is odd in these rows, but the combination is:"
MOSTLY = "mostly {columns}"
SHARED = "What they share:"
SHARED_BY_ALL = "{count:,} of {total:,}: {pattern}"
SHARED_ROW = "{kind} {rows}"
SHARED_ROWS = "{kind}s {rows}"
SHARED_MORE = " and {count:,} more"
SHARED_PLACES = " of those above"
MORE_ON_EACH = (
    "Why? Add --explain for the whole story of each row, or ask `outlying explain` about one."
)
NO_FINDING = "no finding"
SCORE = "score {score}"
TIMES_THE_SCORE = "{times} times the score of an average row"
TIMES_AS_FAR = "{times} times as far from its neighbours as an average row"
FIRST_IN_ROUNDS = "; the oddest in {votes:,} of {rounds:,} rounds"
BY_FINDINGS = "the strongest finding of each row"
BY_BAGGING = (
    "feature bagging: {rounds:,} rounds on random columns, {base} with {neighbours} neighbours, "
    "combined by {combine}"
)
LOWEST_FIRST = ", the lowest first"

# --- notes: what a reader should know ------------------------------------------------------------

NOT_COMPARED = "{column} was not compared: it {reason}."
COMPARES_IT = "({setting} compares it.)"
MORE_NOT_COMPARED = "{count:,} more columns were not compared; the JSON result names them."
NOTHING_RARE = "No value of this row is rare, whatever rows it is compared with."
CLOSEST_ARE_GIVEN = "Nothing in this row is odd; what comes closest is given instead."
BELOW_THRESHOLD = "Nothing reaches the threshold of {threshold:g}; what comes closest is given."
ONLY_THE_STRONGEST = "Only the {count:,} strongest findings are given."
ONLY_THE_STRONGEST_ONE = "Only the strongest finding is given."
PARTS_COMPARED = "Also compared: {parts}."
PARTS_OF = "{parts} of {column}"
ONLY_PARTS = "Of {columns}, only parts were compared: nearly every text is different."
HOURS_AND_MINUTES = (
    "{columns}: read as hours and minutes, 517 as 05:17 (--type {columns}=numeric says otherwise)."
)
ON_A_CIRCLE = "In {columns}, 23:50 is close to 00:10."
NOT_COMPARED_BY = (
    "{column} is named as entity or time, but takes no part: rows were not compared by it."
)
NO_PAST_OF_STREAMS = (
    "Rows were not compared with earlier and later ones: for that a stream holds at most {count} "
    "cells; name fewer columns, or read the table into memory."
)
ONE_RELATION = "One relation between columns was used: {relations}."
RELATIONS = "{count:,} relations between columns were used: {relations}."
DRAWN = (
    "What is odd was decided by a sample of {drawn:,} of the {rows:,} rows; the figures of each "
    "finding are counted in all rows."
)
WITHOUT_EFFECT = "{option} no longer has any effect: every row is compared with all others."
IN_BINS = (
    "Columns of very many different values were counted in narrow bins: outlierness, rarity, tail "
    "and lift are within {bound:.2g} of exact."
)
NEW_ROW_JOINED = "The new row was compared with the rows of the table, as if it were one of them."
PAPER_CATEGORIES = "By the paper's measure a categorical property cannot exceed 0.46."
PAPER_BINS = (
    "Numbers were cut into {bins} {kind} bins: the older method, for comparison; its scores change "
    "with the number of bins."
)
PAPER_ONE_BIN = "All values fell into one bin, which leaves nothing to compare, in: {columns}."
SEEMS_A_LABEL = (
    "{column} seems to be a label of the rows asked for: all of them, and no others, have the same "
    "value in it."
)
DIFFERS_HERE_ONLY = (
    "{column} is the same in all rows but this one: good evidence, unless it was made to mark it."
)
FILLED_HERE_ONLY = "{column} is filled in this row only."
LEAVES_IT_OUT = "leaves it out"
LEAVES_THEM_OUT = "leaves them out"
SHOWS_MORE = "shows more findings"
A_HIGHER = "A higher {option}"

# --- notes: how a table was read -----------------------------------------------------------------

COLUMN_WAS = "Column {column} was {said}."
COLUMN_HOLDS = "Column {column}: {said}."
COLUMNS_HOLD = "Columns {columns}: {said}."
READ_AS = "read as {what}"
FOR_EXAMPLE = "{read}, '{text}' as {value}"
READ_BY_ORDER = "read as {order}; {example} fits no other order"
READ_IN_DOUBT = "{read}; nothing rules out {other}"
BOUNDS = ("1 row holds a bound, '{text}'", "{rows:,} rows hold a bound such as '{text}'")
UNLIKE_THE_REST = ("1 row is written unlike the rest", "{rows:,} rows are written unlike the rest")
HOLDS_NONE = ("1 row holds no {noun}", "{rows:,} rows hold no {noun}")
MISFITS = "{rows}: {texts}"
GAP_WORD = ("{word} (1 row)", "{word} ({rows:,} rows)")
GAPS = ("{words} counts as missing", "{words} count as missing")
BLANK = "blank"
COMMAS = "decimal commas were read as decimal points"
POINTS_IN_DOUBT = "points were read as decimal points, though they may mark thousands"
POINTS_OF_THOUSANDS = "points were read as marks of thousands, as other columns have decimal commas"
LONG_NUMBERS = "whole numbers beyond 2**53 were read as categories"
FINE_SECONDS = (
    "decimals of seconds beyond microseconds were left out in 1 row",
    "decimals of seconds beyond microseconds were left out in {rows:,} rows",
)
MIXED_VALUES = "mixed values ({found}) were taken as texts"
INFINITE = ("an infinite value counts as missing", "{rows:,} infinite values count as missing")
NOT_READ = (
    "a text that is no {noun} counts as missing: {text}",
    "{rows:,} texts that are no {noun}s count as missing, such as {text}",
)
NOT_IN_ALL_FILES = "it is in {some} of {files} files, and counts as missing in the others"
KEY_TWICE = "it is in the files and in the names of their folders, which were taken"
RARE_LABELS = "its rare labels count as one label in the comparison"
TOO_MANY_LABELS = (
    "it has more than {most:,} different values, too many to tell misspellings, parts of dates and "
    "what occurs twice in a stream"
)
GOES_ON = "it goes on where the model ends, and was not compared"
NO_HEADER = "No header line was found: columns are named column0, column1, ..."
LAST_ROW_TOTALS = "The last row was left out: it holds totals ({cells})."
LINES_LEFT_OUT = (
    "A line {where} the table was left out: {lines}.",
    "{count} lines {where} the table were left out: {lines}.",
)
EMPTY_ROWS = ("1 empty row was left out.", "{count:,} empty rows were left out.")
EMPTY_FILES = ("1 empty file was left out.", "{count:,} empty files were left out.")
MERGED_CELLS = "The value of merged cells is taken for each of them."
SHEET_READ = "Sheet {sheet} was read; the others are {others} (the option sheet names one)."
ENCODING_GUESSED = "The file was read as {encoding} text; if that is wrong, name its encoding."
OTHER_FORMAT = "The file holds {form}, whatever its name says."
NOT_IN_MODEL = "Not in the model, and not compared: {columns}."
COMPARED_WITH = "Compared with the {rows:,} rows of {source}."
COPIES_IN_SAMPLE = (
    "Some rows are repeated very often, others are not: the sample, drawn from {sampled:,} of "
    "about {distinct:,} distinct rows, may hold too many or too few copies."
)
NO_SCORE = (
    "1 row has no score and cannot be ranked.",
    "{rows:,} rows have no score and cannot be ranked.",
)
ALL_TIED = "All rows have the same score: none stands out."
TIED = (
    "1 more row has the same score as the last one here, and comes later in the table.",
    "{rows:,} more rows have the same score as the last one here, and come later in the table.",
)
DRAWN_IN_ROUNDS = (
    "Each of the {rounds:,} rounds scored all {rows:,} rows by their distance to {drawn:,} of "
    "them, drawn by what they hold: {compared:,} in all."
)
FEW_NEIGHBOURS = (
    "There are few rows: each was compared with its {neighbours} nearest, half of the other rows, "
    "not {wanted}."
)
BY_FDR = (
    "Exceptional by a false discovery rate of {fdr:.0%}: strengths of ordinary rows are taken to "
    "have an exponential tail, fitted to their strongest twentieth."
)
BY_ALERTS = "The {count:,} strongest rows count as exceptional; {chance:.1f} would by chance."

# --- what numbers mean ---------------------------------------------------------------------------

GLOSSARY = {
    "rarity": "how many times fewer rows lie near this value than near a typical one of the group; "
    "of categories: how many times fewer rows share it.",
    "outlierness": "the rarity on a scale from 0 to 1. 0.9 is ten times rarer than a typical "
    'value, 0.99 a hundred times. With preset="paper" it is the paper\'s own score, which depends '
    "on the unit of the column, so that scores of different columns do not compare.",
    "group": "how many rows satisfy the conditions, and their share of the table.",
    "tail": "the share of the group that is at least as rare as this row.",
    "lift": "how many times closer together the values are in the group than in the whole table. "
    "Near 1, the conditions have nothing to do with the column.",
    "overall": "the outlierness of the same value in the whole table, without any condition.",
    "strength": "what findings are ordered by, and compared with those of all other rows: how far "
    "the value lies outside, and how badly it fits the other columns.",
    "blame": "how much weaker the strongest finding of the row would be without this column. It is "
    "0 for ordinary cells, and equal where two columns do not fit together: either may be wrong.",
}

# --- the command line ----------------------------------------------------------------------------

INTERRUPTED = "Interrupted; nothing was written."
INTERRUPTED_AFTER = "Interrupted; {done} of {total} were explained and written."
INTERRUPTED_KEPT = "Interrupted; {kept}."
KEPT_NOTHING = "nothing was written"
KEPT_SOME = "{done} of {total} are explained in {file}; {how}"
CONTINUES = "the same command with --resume continues"
CANNOT_CONTINUE = "objects from standard input cannot be continued"
COMPLETE_ALREADY = "{file} is complete already; nothing to do."
EXPLAINED_ALREADY = "{done} of {total} are explained already."
WORKING_ON = "working: {percent}%, {stage}"
WORKING = "working: {percent}% of this step"
EXPLAINED_SO_FAR = "{done} of {total} explained, {left} left"
SAVED = "Saved. Now try: outlying explain {table} --object {row}"

# --- reports and cards ---------------------------------------------------------------------------

PAGE_SKIP = "Skip to the findings"
PAGE_RANKING = "The oddest first"
PAGE_SHARED = "What they share"
PAGE_READ = "How to read this"
PAGE_HOW_TO_READ = (
    "The strip shows the row as it stands in the table. The stronger the shade of a cell, the "
    "odder it is; its number leads to the card that says why. A pale cell is ordinary.",
    "Each card is one odd cell: its value, what was expected instead, and where, that is, among "
    "which rows. A value can be common in the whole table and still be odd there. The oddest cell "
    "comes first. \u201cExceptional\u201d means that hardly any ordinary row of the table would "
    "have a finding as strong, \u201cunusual\u201d that nearly all rows have weaker ones.",
    "The filled shape shows how the values of the group are spread, the dashed line how those of "
    "the whole table are. The shaded range holds nine of ten rows of the group. Where a second "
    "range is drawn around the row, hardly any other row lies in it.",
)
PAGE_NUMBERS = "What the numbers mean"
PAGE_MADE = "How it was made"
PAGE_ONE_FILE = "outlying {version}. This page is one file: it loads nothing and sends nothing."
PAGE_CELL_BY_CELL = "The row, cell by cell"
PAGE_ORDINARY_CELLS = "Ordinary cells"
PAGE_ORDINARY_COLUMN = "and 1 ordinary column"
PAGE_ORDINARY_COLUMNS = "and {count:,} ordinary columns"
PAGE_SHADES = "What do the shades mean?"
PAGE_SHADE = "The shade of a cell is its blame: {blame}"
PAGE_NOT_COMPARED = "not compared"
PAGE_CLOSEST = "What comes closest"
PAGE_ONE_WEAKER = "1 more finding, of a kind that many rows have"
PAGE_WEAKER = "{count:,} more findings, of a kind that many rows have"
PAGE_GROUP = "The group among all {rows} rows"
PAGE_ALSO_ODD = "Also odd"
PAGE_OTHER_SIDE = "The same from the other side"
PAGE_MEASURE = "The measure behind it"
PAGE_SKIPPED = "Columns that were not compared"
EXPLAINED = "{count:,} rows, explained:"
WHAT_IS_ODD = "What is odd in {source}, and why?"
WHY_NEW_ROWS = "Why are these {count:,} new rows outliers against {source}?"
WHY_ROWS = "Why are these {count:,} rows of {source} outliers?"
WHY_ROW_WITH = "Why is the row with {key} of {source} an outlier?"
WHY_NEW_ROW = "Why is the new row an outlier against {source}?"
WHY_ROW = "Why is row {row}{named} of {source} an outlier?"
ABOUT = "{source}: {rows:,} rows, {columns:,} columns compared"

# --- pictures ------------------------------------------------------------------------------------

PICTURE_OF_SHARES = "{name} among {group}"
PICTURE_OF_ROWS = "Some rows beside what is expected of them, by {name}. {mark}."
PICTURE_OF_SPREAD = (
    "How {name} is spread among {group}, from {low} to {high}. Expected: {expected}. This row: "
    "{mark}{window}."
)
PICTURE_OF_CONDITION = (
    "{name} over the whole table, from {low} to {high}; the condition keeps {kept}; this row: "
    "{mark}"
)
PICTURE_OF_MEASURE = (
    "The share of rows at most as common as the horizontal axis says. Area above the curve, right "
    "of this row: {above:.3f}; area below it, left of this row: {below:.3f}."
)
PICTURE_MEASURE = (
    "The curve shows which share of the rows is at most so common. Above less below is the "
    "outlierness free of units, {area:.3f}."
)
AXIS_CUT = "Some rows lie beyond the axis."
AXIS_BROKEN = "The axis is broken."
AXIS_CUT_AND_BROKEN = "Some rows lie where the axis is broken."

# --- the page ------------------------------------------------------------------------------------

PAGE_EXCEPTIONAL = ("Exceptional", "Hardly any ordinary row would be this odd.")
PAGE_UNUSUAL = ("Merely unusual", "Odd, but a table of this size has some rows like these.")
PAGE_ORDINARY = ("Not out of the ordinary", "These come closest.")
PAGE_ALL_OVER = ("Odd all over", "No single value is exceptional, but the combination is rare.")
PAGE_FINE = ("Marked as fine", "Kept until the server stops, and in what you save.")
PAGE_ACCEPTED = "What you marked as fine, for outlying check --accept accepted.toml."
PAGE_NOTHING_TO_ACCEPT = "Nothing exceptional is known in row {row}, so there is nothing to accept."
PAGE_SOME_EXCEPTIONAL = "{count} of {rows} {are} exceptional"
PAGE_NONE_EXCEPTIONAL = "None of {rows} is exceptional"
PAGE_MORE_UNUSUAL = "; {count} {are} merely unusual"
PAGE_ONE_MORE_LIKE_IT = "and 1 more row like it"
PAGE_MORE_LIKE_IT = "and {count} more rows like it"
PAGE_NOT_LISTED = "{rows} not listed: hidden {columns}."
PAGE_SHOW_MORE = "Show {count} rows"
PAGE_WELCOME = (
    "Enter what you know, and leave out what you do not. The row is then compared with those of "
    "the table, as if it were one of them. To start from a row, open it and change its values."
)
PAGE_LEFT_OUT = " Left out, as too long to be typed: {columns}."
#: What a column is compared as, what its cells are, and how rows are found by it.
PAGE_TYPES = {"numeric": "number", "categorical": "category", "datetime": "date"}
PAGE_FORMS = {
    "number": "numbers",
    "integer": "whole numbers",
    "boolean": "yes or no",
    "text": "texts",
    "date": "dates",
    "datetime": "dates with a time",
    "instant": "moments in time",
    "time": "times of day",
    "duration": "durations",
}
PAGE_RULES = {
    "equals": "is",
    "contains": "contains",
    "least": "is at least",
    "most": "is at most",
    "missing": "is missing",
    "present": "is known",
}
PAGE_KINDS = "CSV, Excel, Parquet, JSON, SQLite and more."
PAGE_STAYS = (
    "Nothing leaves this computer.",
    "The file stays on this computer and is forgotten when the server stops.",
)
PAGE_GOES = (
    "Your table goes to the computer that serves this page, and no further.",
    "The file is forgotten when the server stops.",
)
PAGE_OPTIONS = {
    "min_support": (
        "Smallest group to compare with",
        "Small groups show finer detail; large ones are safer ground.",
    ),
    "max_conditions": (
        "Most conditions on a group",
        "How narrowly a group may be described. None: only the whole table counts.",
    ),
}
PAGE_COMPARED_HERE = (
    "The rows are named by what the page shows; `outlying compare` names them by --where, "
    "--where-true, --rows or --rows-file."
)
PAGE_APART = "What sets these rows apart?"
PAGE_RANKED_HERE = (
    "This page ranks its copy of the stream, whose rows have numbers; `outlying detect` ranks the "
    "stream itself, and names rows by what they hold. Open a row for the command that explains it."
)
PAGE_OF_COPY = "The table is a stream: what was ranked is the copy of its rows that the page shows."
