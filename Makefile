# `make demo` shows the farm at work, `make test` proves it.
# Needs Debian 12 (or newer) and a Swift 6.2 (or newer) toolchain on PATH.

.PHONY: setup build man completions deb demo check test test-outside simulate mutants fuzz sanitize chaos soak bench bench-guard bench-profile bench-binary \
	drill governor-picture newspaper lint format clean

# Installs missing Debian packages. If all packages are installed, prints nothing and uses no network.
setup:
	@deploy/install-packages

# Builds .build/release/pushfarm, which needs no Swift runtime on the machine it is copied to.
build: setup
	swift build -c release --static-swift-stdlib --product pushfarm
	@! grep -qaE 'PUSHFARM_FAILPOINTS|intake\.parse|send\.before|batch\.(read|done)' .build/release/pushfarm \
		|| { echo "there are failpoints in the release build" >&2; exit 1; }

# Makes manual pages from the help texts and from deploy/pushfarm.yaml. To read one: man -l .build/man/pushfarm.1
man: build
	swift build -c release --static-swift-stdlib --product pushfarm-manual
	@rm -rf .build/man
	@.build/release/pushfarm --experimental-dump-help | .build/release/pushfarm-manual "$$(.build/release/pushfarm --version)" \
		"$$(git log -1 --format=%cs 2>/dev/null || date +%F)" deploy/pushfarm.yaml .build/man

# Makes completions of commands and options for bash, zsh and fish.
completions: build
	@mkdir -p .build/completions
	@for shell in bash zsh fish; do \
		.build/release/pushfarm --generate-completion-script $$shell | sed '1{/^#!/d}' >.build/completions/$$shell; done

# Makes .build/pushfarm_VERSION_ARCHITECTURE.deb with program, units, manual, completions and sample configuration
# (docs/deploy.md).
deb: man completions
	@deploy/install-packages deb
	@deploy/make-deb .build/release/pushfarm .build/man .build/completions .build

demo: build
	.build/release/pushfarm demo --kill 3

# Runs the quick suites and, beside them, lint. Takes about 50 s on two cores after the build. The output of lint is in
# .build/lint and is shown at the end if lint fails. Packages are installed first, because sudo may ask for a password.
check: export SWIFT_DETERMINISTIC_HASHING = 1
check:
	@deploy/install-packages test
	@deploy/install-packages lint
	@mkdir -p .build
	@$(MAKE) --no-print-directory lint >.build/lint 2>&1 & lint=$$!; \
		swift build --build-tests && Tests/all quick; status=$$?; \
		wait $$lint || { echo "lint failed:"; cat .build/lint; exit 1; }; \
		exit $$status

# `--build-tests` also builds .build/debug/pushfarm, which the process tests start.
test: export SWIFT_DETERMINISTIC_HASHING = 1
test:
	@deploy/install-packages test
	swift build --build-tests
	@Tests/all

# Runs tests with other software of Debian: the programs in docs/producers with the clients of five languages, and h2load.
test-outside: export SWIFT_DETERMINISTIC_HASHING = 1
test-outside:
	@deploy/install-packages outside
	swift build --build-tests
	@Tests/all outside

# Runs the simulation of the scripts with more seeds than `make test` (docs/internals/proof.md). SEEDS is the number of seeds of
# each profile; FIRST is the first seed. A single seed prints each step: `make simulate SEEDS=1 FIRST=42 PROFILE=roll-backs`.
SEEDS ?= 100
FIRST ?= 1
simulate: setup
	swift build --build-tests
	SWIFT_DETERMINISTIC_HASHING=1 PUSHFARM_SEEDS=$(SEEDS) PUSHFARM_FIRST_SEED=$(FIRST) PUSHFARM_PROFILE=$(PROFILE) \
		swift test --skip-build --filter 'many.seeds'

# Changes every line of the scripts in turn, or of some: `make mutants SCRIPTS="report settle"`. Takes long.
# In Swift files it changes conditions, constants and calls: `make mutants SWIFT="Sources/Core/Delivery/DeliveryWindow.swift"`, or a folder, or a file with a list
# of faults (Tests/Tools/SourceMutants/MutantList.swift has its form); DRAW=50 SEED=7 draws fifty at random,
# and SKIP=20 skips the first twenty of these.
SCRIPTS ?= settle report reclaim checkout split take refuse intake_crash promote_due putback quarantine pause resume cancel_batches lease update_app \
	base events records pauses pause_entries finishing batches suspicion cancelling paused_positions app_pause suppression taken_jobs refusals \
	accounting dead_letters
mutants: setup
	swift build --build-tests
	$(if $(SWIFT),SWIFT_DETERMINISTIC_HASHING=1 .build/debug/source-mutants $(if $(DRAW),draw=$(DRAW)) $(if $(SKIP),skip=$(SKIP)) seed=$(SEED) $(SWIFT), \
		Tests/mutants "$(SCRIPTS)")

# Fuzzes the parsers of foreign bytes, guided by coverage: 60 s for each target, or `make fuzz SECONDS=600 TARGET=job`.
# MERGE=1 adds inputs with new coverage to the committed corpus.
SECONDS = 60
fuzz: setup
	Tests/Tools/Fuzzing/run $(SECONDS) "$(TARGET)" "$(MERGE)"

# Runs the whole suite, and the farms that it starts, under the sanitizers for addresses, leaks and undefined behaviour.
sanitize: setup
	Tests/sanitize

# Runs farms of real processes for MINUTES with the faults of docs/internals/proof.md. SEED repeats a run; ONLY=1,7 selects kinds
# of faults. Prints a table. .build/chaos contains all figures (chaos.json), and ledgers and logs of failed runs.
MINUTES ?= 10
SEED ?= 7
chaos: setup
	swift build --product pushfarm
	swift build --product chaos-run
	.build/debug/chaos-run minutes=$(MINUTES) seed=$(SEED) $(if $(ONLY),only=$(ONLY))

# Runs a farm of the release build at half load with faults for MINUTES. FOLDER gets a table, a CSV file and a picture of growth.
FOLDER ?= .build/soak
soak: setup
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product chaos-run
	.build/release/chaos-run soak minutes=$(MINUTES) seed=$(SEED) keep=$(FOLDER)

# Compares the farm with h2load at the same simulator (docs/internals/performance.md). Uses the release build and takes a quarter
# of an hour. ROUNDS is the number of rounds of each case; ONLY=worker,farm selects cases; CORES=2,3 selects processors. DIVISOR=10 divides
# all numbers of pushes and devices. Prints a table. FOLDER gets figures and a picture. Fails if the farm misses a bar.
ROUNDS ?= 5
bench: FOLDER = .build/bench
bench:
	@deploy/install-packages bench
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product farm-bench
	.build/release/farm-bench rounds=$(ROUNDS) keep=$(FOLDER) $(if $(ONLY),only=$(ONLY)) $(if $(CORES),cores=$(CORES)) \
		$(if $(DIVISOR),divisor=$(DIVISOR))

# Counts the worker's instructions per push with callgrind. If they grew by over 5 % since they were recorded, fails and lists the
# functions. RECORD=1 records them.
bench-guard:
	@deploy/install-packages bench
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product farm-bench
	.build/release/farm-bench guard $(if $(RECORD),record)

# Shows a worker's time by part and function. Needs Debian's linux-perf, and the right to use it.
bench-profile:
	@deploy/install-packages bench
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product farm-bench
	.build/release/farm-bench profile $(if $(CORES),cores=$(CORES))

# Runs the experiments of docs/internals/binary-protocol.md. Uses the release build and takes a quarter of an hour. ONLY=b,f
# selects experiments. The method that waits after each push runs for BUDGET seconds, and its result is extrapolated. Prints a
# table. FOLDER gets figures and a picture. Fails if the farm breaks a promise.
BUDGET ?= 45
bench-binary: FOLDER = .build/bench-binary
bench-binary: setup
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product binary-bench
	.build/release/binary-bench budget=$(BUDGET) keep=$(FOLDER) $(if $(ONLY),only=$(ONLY))

# Runs every operator command, sends every signal and kills a host while RATE pushes per second are sent. The gateway counts the
# pushes.
RATE ?= 20000
drill: build
	swift build -c release --static-swift-stdlib --product farm-drill
	.build/release/farm-drill rate=$(RATE) $(if $(ONLY),only=$(ONLY))

# Draws docs/internals/governor.svg: four minutes of a farm with a gateway that is slow, throttles, fails and recovers.
governor-picture: setup
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product governor-picture
	.build/release/governor-picture keep=docs/internals/governor.svg

# Plays five nights in which a newspaper sends an edition to DEVICES simulated devices. A night of three hours takes three minutes.
# Prints the table, and draws the picture, of docs/newspaper.md.
DEVICES ?= 1000000
newspaper: setup
	swift build -c release --static-swift-stdlib --product pushfarm
	swift build -c release --static-swift-stdlib --product newspaper-nights
	.build/release/newspaper-nights devices=$(DEVICES) keep=docs/newspaper.svg

# Checks the form of Swift files that changed since the last successful check (.build/linted), and all scripts.
lint:
	@mkdir -p .build && touch .build/linting
	@changed=; if [ .build/linted -nt .swift-format ]; then changed='-newer .build/linted'; fi; \
		find Package.swift Sources Tests -name '*.swift' $$changed -print0 | xargs -0 -r -P "$$(nproc)" -n 100 swift format lint --strict
	@mv .build/linting .build/linted
	@! grep -rnE '(^|[^.a-z])Task(\.detached)?( \{|\()' Sources --include='*.swift' --exclude-dir=EventLoop \
		|| { echo "tasks are started by Loop.task" >&2; exit 1; }
	@! grep -rn 'Task { @Loop' Tests --include='*.swift' --exclude-dir=EventLoopTests \
		|| { echo "tasks on the loop are started by Loop.task, in tests, too" >&2; exit 1; }
	@! grep -rnE '\.(first|last|min\(\)|max\(\)|popLast\(\))!|(^|[^a-z])try!|uniqueKeysWithValues' Sources --include='*.swift' \
		|| { echo "a foreign value may lack that, or have it twice: use guard let, or Dictionary(_:uniquingKeysWith:)" >&2; exit 1; }
	@deploy/install-packages lint
	@deploy/lint-scripts

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests

clean:
	rm -rf .build
