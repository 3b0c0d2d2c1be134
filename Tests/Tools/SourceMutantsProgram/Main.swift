import Foundation
import RandomTesting
import SourceMutants

/// `source-mutants [list] [draw=N] [seed=N] [skip=N] [suites=REGEX,REGEX] FILE...` tries faults in Swift files, one at a time,
/// and prints the faults that no test notices. With `list`, the program only prints all faults, including those
/// that do not compile.
///
/// If FILE ends with `.swift`, the program changes the conditions, constants and calls in this file. If FILE is a folder, the
/// program does the same for all Swift files in it. Any other file is a list of faults (see `MutantList`). `draw` chooses N
/// faults at random, not counting faults that do not compile. `skip` skips the first N faults, to resume an earlier run of the
/// same draw.
@main
enum Main {
    static func main() throws {
        var (files, options): ([String], [String: String]) = ([], [:])
        var isList = false
        for word in CommandLine.arguments.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, ["draw", "seed", "skip", "suites"].contains(parts[0]) {
                options[parts[0]] = parts[1]
            } else if word == "list", files.isEmpty {
                isList = true
            } else {
                files.append(word)
            }
        }
        guard !files.isEmpty else {
            say("use: source-mutants [list] [draw=N] [seed=N] [skip=N] [suites=REGEX,REGEX] FILE...")
            exit(2)
        }
        var mutants = try files.flatMap(mutants)
        if let draw = options["draw"] {
            guard Int(draw) != nil else {
                say("draw: \"\(draw)\" is not a number")
                exit(2)
            }
            var random = SplitMix(seed: options["seed"].flatMap { UInt64($0) } ?? 1)
            mutants.shuffle(using: &random)
        }
        mutants.removeFirst(min(mutants.count, options["skip"].flatMap { Int($0) } ?? 0))
        let most = options["draw"].flatMap { Int($0) } ?? mutants.count
        if isList {
            for mutant in mutants.prefix(most) { say("\(mutant)") }
            return
        }
        let run = try MutantRun(folder: ".build/mutants", say: say)
        var (tried, survivors) = (0, 0)
        for mutant in mutants where tried < most {
            let suites =
                options["suites"]?.split(separator: ",").map(String.init) ?? MutantRun.suites(for: mutant)
            switch try run.verdict(on: mutant, suites: suites) {
            case .doesNotCompile: say("does not compile: \(mutant)")
            case .noticed(let test):
                tried += 1
                say("noticed by \(test): \(mutant)")
            case .survived:
                tried += 1
                survivors += 1
                say("NOT NOTICED: \(mutant)")
            }
        }
        say("\(survivors) of \(tried) faults were not noticed")
        exit(survivors == 0 ? 0 : 1)
    }

    private static func mutants(of path: String) throws -> [SourceMutant] {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if isFolder.boolValue {
            let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
            return try below.filter { $0.hasSuffix(".swift") }.sorted().flatMap {
                try mutants(of: path + "/" + $0)
            }
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        if path.hasSuffix(".swift") { return MutantFinder(file: path, text: text).mutants() }
        return try MutantList.mutants(text) { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
