package import PushModel

/// Why a text is not a tally of rewards.
package enum RewardTallyError: Error, Hashable, Sendable, CustomStringConvertible {
    case json(JSONError)
    /// A member is missing, is given twice, or has a value out of its range.
    case member(String)
    /// The number of variants is not from 1 to `VariantAssignment.mostVariants`.
    case variants

    package var description: String {
        switch self {
        case .json(let error): "is not valid JSON: \(error)"
        case .member(let name): "\"\(name)\" is missing or wrong"
        case .variants: "there must be 1 to \(VariantAssignment.mostVariants) variants"
        }
    }
}

extension RewardTally {
    /// The tally as JSON on one line:
    /// `{"variants":[{"name":"a","pulls":9,"thousandths":2000}],"holdout":{"pulls":1,"thousandths":0}}`.
    package var text: String {
        JSONText.object { json in
            json.key("variants")
            json.array { json in
                for variant in variants {
                    json.object { json in
                        json.member("name", variant.name)
                        variant.write(to: &json)
                    }
                }
            }
            json.member("holdout", object: holdout.write)
        }
    }

    /// Reads ``text``. Members that later versions may add are ignored.
    package init(text: some Collection<UInt8>) throws(RewardTallyError) {
        self = try Array(text).withUnsafeBytes(Self.read).get()
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> Result<RewardTally, RewardTallyError> {
        do {
            var reader = RewardTallyReader(bytes)
            return .success(try reader.tally())
        } catch let error as JSONError {
            return .failure(.json(error))
        } catch let error as RewardTallyError {
            return .failure(error)
        } catch {
            preconditionFailure("\(error) is not an error of a reader")
        }
    }
}

extension RewardTally.Entry {
    fileprivate func write(to json: inout JSONText) {
        json.member("pulls", pulls)
        json.member("thousandths", thousandths)
    }
}

/// Reads the members of a tally in any order.
private struct RewardTallyReader {
    private var scanner: JSONScanner

    init(_ bytes: UnsafeRawBufferPointer) { scanner = JSONScanner(bytes) }

    mutating func tally() throws -> RewardTally {
        var (variants, holdout): ([RewardTally.Entry]?, RewardTally.Entry?)
        try scanner.start()
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            switch scanner.text(key) {
            case "variants":
                guard variants == nil else { throw RewardTallyError.member("variants") }
                variants = try self.variants()
            case "holdout":
                guard holdout == nil else { throw RewardTallyError.member("holdout") }
                holdout = try entry(hasName: false)
            default: _ = try scanner.skipValue()
            }
        }
        try scanner.end()
        guard let variants else { throw RewardTallyError.member("variants") }
        guard let holdout else { throw RewardTallyError.member("holdout") }
        return RewardTally(variants: variants, holdout: holdout)
    }

    private mutating func variants() throws -> [RewardTally.Entry] {
        var variants: [RewardTally.Entry] = []
        try scanner.enterArray()
        while try scanner.nextElement() {
            guard variants.count < VariantAssignment.mostVariants else { throw RewardTallyError.variants }
            let entry = try entry(hasName: true)
            guard !variants.contains(where: { $0.name == entry.name }) else {
                throw RewardTallyError.member("name")
            }
            variants.append(entry)
        }
        guard !variants.isEmpty else { throw RewardTallyError.variants }
        return variants
    }

    private mutating func entry(hasName: Bool) throws -> RewardTally.Entry {
        var (name, pulls, thousandths): (String?, Int?, Int64?)
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            switch scanner.text(key) {
            case "name" where hasName:
                guard name == nil else { throw RewardTallyError.member("name") }
                name = scanner.text(try scanner.string())
            case "pulls":
                guard pulls == nil else { throw RewardTallyError.member("pulls") }
                pulls = Int(try count("pulls"))
            case "thousandths":
                guard thousandths == nil else { throw RewardTallyError.member("thousandths") }
                thousandths = try count("thousandths")
            default: _ = try scanner.skipValue()
            }
        }
        guard let pulls else { throw RewardTallyError.member("pulls") }
        guard let thousandths else { throw RewardTallyError.member("thousandths") }
        guard !hasName || name != nil else { throw RewardTallyError.member("name") }
        return RewardTally.Entry(name: name ?? "", pulls: pulls, thousandths: thousandths)
    }

    /// Reads a number from 0 to 2^48.
    private mutating func count(_ name: String) throws -> Int64 {
        let number = try scanner.integer()
        guard number >= 0, number == Int64(foreign: number) else { throw RewardTallyError.member(name) }
        return number
    }
}
