"""Set the limits of the commands: how much a command reads, tries and prints.

A limit that belongs to one algorithm is in the module of that algorithm. The limits of the driver
are in the modules of the driver, which does not load this module.
"""

# Seconds.
FILE_SECONDS = 60.0  # the time that a command may take for one file
BLAME_SECONDS = 5.0  # `git blame` is slow on a large file with a long history
MERGING_SECONDS = 3600  # a younger temporary file may belong to a running merge
# older temporary files are left over: no merge takes a day, and process ids are used again
LEFTOVER_SECONDS = 24 * 3600
AHEAD_SECONDS = 10.0  # merges that together take longer are made one by one
CHILD_SECONDS = 30.0  # the time that a child process may be late
GRACE_SECONDS = 5.0  # the time that processes of `kmerge generate` have to end when asked to

# Reading, comparing and trying.
SEALED_BYTES = 16 << 20  # bytes read to see whether SOPS wrote a file; SOPS files are smaller
GENERATOR_BYTES = 4096  # bytes at the top of a file, where a generator names itself
GENERATOR_LINES = 20  # lines at the top of a file, where a generator names itself
ANSWERS_BYTES = 32 << 20  # the largest file of answers
ANSWERED_BYTES = 2_000_000  # bytes looked through to find the answers that fail together
TEMPLATE_READINGS = 4  # a check of answers costs so many times more in a template
ANSWERS_ALONE = 50  # so many answers of one file are tried one by one
MOVED_DOCUMENTS = 2_000  # documents in a file whose resources may have moved
BLAME_LINES = 500  # lines of one side of a conflict
ATTRIBUTE_STATES = 32  # different attribute files of branches that are examined
SOUGHT_FILES = 20  # files looked for in a branch to see whether it has any
NAMES_AT_ONCE = 200  # file names in one question to git
CHANGED_FILES = 2_000  # changed files whose kustomizations are all read
PUSHED_MERGES = 20  # merges of one push that are judged
COMPARED_FILES = 100  # files read to compare with the checked files
PARSED_FILES = 64  # parsed files kept, because each overlay reads its base again
BUILT_BASES = 50  # bases of bases that are built
SEARCHED_BASES = 20  # bases of bases in which the target of a patch may be
REPORT_BYTES = 64 << 20  # a result that `replay --combine` reads
FEW_MERGES = 32  # for fewer merges, starting processes takes longer
FEW_BRANCHES = 12  # for fewer branches that are refreshed, the same is true
MERGES_AHEAD = 24  # branches that one process of git merges at a time
FEW_FILES = 256  # for fewer files that are only merged, the same is true
MERGES_A_TASK = 16  # few enough for a smooth progress bar, enough to cost little

# Printing; whatever is beyond these limits is only counted.
SHOWN_REFUSALS = 3  # refusals that are printed one by one
SAME_LINES = 5  # places with the same lines whose authors are asked for
SHOWN_HOOK_FILES = 3  # files that are named one by one
SHOWN_ONE_SIDED = 8  # fields of a file that one side alone changed
SHOWN_ELSEWHERE = 16  # lines of fields that differ somewhere else
SHOWN_ALIKE = 3  # fields that both sides changed alike
EXPLAINED_CHARACTERS = 70  # characters of a value
SHOWN_BESIDE = 120  # characters of a value on a line of its own, below others
SHOWN_OF_A_SORT = 10  # lines of one sort about a whole merge
SHOWN_LOG_LINES = 20  # lines about past merges; `--json` lists all
SHOWN_SIDE_LINES = 5  # lines of a text that are shown of each side
SHOWN_OF_A_KIND = 10  # files of each kind, at the end of `resolve`
SHOWN_NAMES = 5  # names of files in one line
SHOWN_FIELDS = 20  # fields of a file of a package
SHOWN_SKIPPED = 10  # files that were not checked
NAMES_IN_MESSAGE = 20  # names in a commit message; a reader of a log wants no more
FOUND_PLACES = 50  # places of a file that have a finding each
FOUND_VALUE = 200  # characters of a value in a finding
FOUND_MESSAGE = 1000  # characters of a finding, and of its field: a key can be of any length
MESSAGE_NAMES = 4  # names in a message of a check
LINE_CHARACTERS = 40  # characters of a line in a message of a check
LOST_NAMES = 5  # names that a patch loses, in one message
AUTHOR_CHARACTERS = 100  # characters of a name or a subject
GENERATOR_CHARACTERS = 80  # characters of the line of a generator
