"""Bounds of the commands: how much they read, try and print, each with its reason.

A bound that belongs to one algorithm is in its module. So are those of the driver, which loads
none of these.
"""

# Seconds.
FILE_SECONDS = 60.0  # that a command may take for one file
BLAME_SECONDS = 5.0  # a long history with a large file; a name is not worth more
MERGING_SECONDS = 3600  # a temporary file that is younger may belong to a merge that is going on
# files of older runs are left over: no merge takes a day, and numbers of processes come back
LEFTOVER_SECONDS = 24 * 3600
CHILD_SECONDS = 30.0  # that a child process may be late before it is given up

# Reading, comparing and trying.
SEALED_BYTES = 16 << 20  # that are read to see whether SOPS wrote a file: its files are smaller
GENERATOR_BYTES = 4096  # at the top of a file, where a generator names itself
GENERATOR_LINES = 20  # at the top of a file
ANSWERS_BYTES = 32 << 20  # of a file of answers
ANSWERED_BYTES = 5_000_000  # that are looked through for the answers of one file, if there are more
ANSWERS_ALONE = 50  # answers of one file that are tried one by one
MOVED_DOCUMENTS = 2_000  # in a file whose resources may have moved
BLAME_LINES = 500  # of one side of a conflict
NAMES_AT_ONCE = 200  # in one question to git
LIBGIT2_FILES = 400  # so many files make up for the import of libgit2
CHANGED_FILES = 2_000  # changed files whose kustomizations can all be read
COMPARED_FILES = 100  # that are read to compare them with those of the run
PARSED_FILES = 64  # that are kept; a base is read by each of its overlays
BUILT_BASES = 50  # bases of bases that are built
SEARCHED_BASES = 20  # bases of bases in which the target of a patch may be
FEW_MERGES = 32  # starting processes takes longer than so many merges
FEW_FILES = 256  # or than so many files, where nothing but a merge of each is made
MERGES_A_TASK = 16  # few enough for a smooth bar, enough to cost nothing

# Printing; the rest is counted.
SHOWN_REFUSALS = 3  # refusals that are printed one by one
SAME_LINES = 5  # places with the same lines whose authors are asked for
SHOWN_HOOK_FILES = 3  # files that are named one by one
SHOWN_ONE_SIDED = 8  # fields of a file that one side alone changed
SHOWN_ELSEWHERE = 16  # lines of fields that differ somewhere else
SHOWN_ALIKE = 3  # fields that both sides changed alike
EXPLAINED_CHARACTERS = 70  # characters of a value
SHOWN_OF_A_SORT = 10  # lines of one sort about a whole merge
SHOWN_LOG_LINES = 20  # lines about past merges; `--json` lists all
SHOWN_SIDE_LINES = 5  # lines of a text that are shown of each side
SHOWN_OF_A_KIND = 10  # files of each kind, at the end of `resolve`
SHOWN_NAMES = 5  # names of files in one line
SHOWN_FIELDS = 20  # fields of a file of a package
SHOWN_SKIPPED = 10  # files that were not checked
NAMES_IN_MESSAGE = 20  # in the message of a commit; a reader of a log wants no more
FOUND_PLACES = 50  # places of a file that have a finding each
FOUND_VALUE = 200  # characters of a value in a finding
FOUND_MESSAGE = 1000  # characters of a finding, and of its field: a key can be of any length
MESSAGE_NAMES = 4  # names in a message of a check
LINE_CHARACTERS = 40  # characters of a line in a message of a check
LOST_NAMES = 5  # names that a patch loses, in one message
AUTHOR_CHARACTERS = 100  # characters of a name or a subject
GENERATOR_CHARACTERS = 80  # characters of the line of a generator
