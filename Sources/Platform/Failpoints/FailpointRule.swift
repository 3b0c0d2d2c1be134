#if FAILPOINTS
    /// One rule of `PUSHFARM_FAILPOINTS`: `POINT[@SUBJECT]:ACTION[:PROBABILITY[:SEED[:MOST]]]`.
    ///
    /// A `*` in the point matches any text. A rule with a `SUBJECT` applies only if the subject that the code passes to the
    /// failpoint contains `SUBJECT`. The action is `kill`, `crash`, `stop`, `delay(MS)`, `drop`, `dup` or `error`. `MOST` is the
    /// maximum number of failures in all processes together.
    package struct FailpointRule: Equatable, Sendable {
        package enum Action: Equatable, Sendable {
            case kill
            /// Ends the process by a trap, like a broken invariant.
            case crash
            /// Sends SIGSTOP to this process. Another process must send SIGCONT to continue this process.
            case stop
            case delay(milliseconds: UInt32)
            case drop, dup, error
        }

        package struct Unreadable: Error, Equatable, CustomStringConvertible {
            package let rule: String
            package var description: String {
                "not POINT[@SUBJECT]:ACTION[:PROBABILITY[:SEED[:MOST]]]: \(rule)"
            }
        }

        package let point: String
        package let subject: String?
        package let action: Action
        package let probability: Double
        package let seed: UInt64
        package let most: Int?

        package static func read(_ text: String) throws(Unreadable) -> [FailpointRule] {
            var rules: [FailpointRule] = []
            for rule in text.split(separator: ",") { try rules.append(FailpointRule(rule)) }
            return rules
        }

        private init(_ text: Substring) throws(Unreadable) {
            let words = text.split(separator: ":", omittingEmptySubsequences: false)
            let place = words[0].split(separator: "@", maxSplits: 1)
            let probability = words.count > 2 ? Double(words[2]) : 1
            let seed = words.count > 3 ? UInt64(words[3]) : 0
            let most: Int?? = words.count > 4 ? Int(words[4]).map { .some($0) } : .some(nil)
            guard words.count > 1, words.count < 6, let point = place.first, !point.isEmpty,
                point.count(where: { $0 == "*" }) < 2, let action = Action(words[1]), let probability,
                (0...1).contains(probability), let seed, let most
            else { throw Unreadable(rule: String(text)) }
            self.point = String(point)
            subject = place.count > 1 ? String(place[1]) : nil
            self.action = action
            self.probability = probability
            self.seed = seed
            self.most = most
        }

        /// Whether the rule is for the point `name`. The rule's subject is not compared.
        package func names(_ name: String) -> Bool {
            guard let star = point.utf8.firstIndex(of: UInt8(ascii: "*")) else { return name == point }
            let (head, tail) = (point[..<star], point[point.utf8.index(after: star)...])
            return name.utf8.count >= head.utf8.count + tail.utf8.count && name.hasPrefix(head)
                && name.hasSuffix(tail)
        }

        package func applies(to name: String, _ hit: @autoclosure () -> String) -> Bool {
            guard names(name) else { return false }
            return subject.map { hit().contains($0) } ?? true
        }
    }

    extension FailpointRule.Action {
        private static let plain: [(word: String, action: Self)] = [
            ("kill", .kill), ("crash", .crash), ("stop", .stop), ("drop", .drop), ("dup", .dup),
            ("error", .error),
        ]

        fileprivate init?(_ word: Substring) {
            if let plain = Self.plain.first(where: { $0.word == word }) {
                self = plain.action
                return
            }
            guard word.hasPrefix("delay("), word.hasSuffix(")"),
                let milliseconds = UInt32(word.dropFirst(6).dropLast())
            else { return nil }
            self = .delay(milliseconds: milliseconds)
        }

        /// The action's word in a rule, without the number of milliseconds.
        package var word: String { Self.plain.first { $0.action == self }?.word ?? "delay" }
    }
#endif
