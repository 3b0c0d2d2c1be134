extension RewardTally {
    /// A number of a tally. The raw value begins the name of the number's field, as in `pulls:short`.
    package enum Number: String, CaseIterable, Sendable {
        /// Devices with the variant.
        case pulls
        /// Sum of the rewards in thousandths.
        case rewards

        /// The field of a variant. No variant has the name of the held-out devices, `@holdout`.
        package func field(ofVariant name: String) -> String { "\(rawValue):\(name)" }

        /// The field of the devices that are assigned to `arm`; nil for an index without a variant.
        package func field(of arm: VariantAssignment.Arm, variants names: [String]) -> String? {
            switch arm {
            case .holdout: field(ofVariant: RewardTally.holdoutName)
            case .variant(let index): names.indices.contains(index) ? field(ofVariant: names[index]) : nil
            }
        }
    }

    /// What the fields of the held-out devices have in place of a variant's name.
    package static let holdoutName = "@holdout"

    /// The fields of all numbers of the variants and of the held-out devices.
    package static func fields(ofVariants names: [String]) -> [String] {
        Number.allCases.flatMap { number in (names + [holdoutName]).map(number.field(ofVariant:)) }
    }

    /// Whether a field of a hash is a number of a variant.
    package static func isField(_ name: String) -> Bool {
        Number.allCases.contains { name.hasPrefix($0.field(ofVariant: "")) }
    }

    /// The sum of the devices of all variants and of the held-out devices. Unreadable fields count as 0.
    package static func pulls(in fields: [String: [UInt8]]) -> Int {
        fields.reduce(0) { sum, field in
            guard field.key.hasPrefix(Number.pulls.field(ofVariant: "")) else { return sum }
            return sum.adding(saturating: Int(foreign: String(decoding: field.value, as: UTF8.self)) ?? 0)
        }
    }

    /// Reads the numbers of the variants. Missing and unreadable fields count as 0.
    /// - Parameter fields: the fields of the hash that has the numbers, and their values.
    package init(variants names: [String], fields: [String: [UInt8]]) {
        func number(_ number: Number, _ name: String) -> Int64 {
            fields[number.field(ofVariant: name)].flatMap { value in
                Int64(foreign: String(decoding: value, as: UTF8.self))
            } ?? 0
        }
        self.init(variants: names)
        for (index, name) in names.enumerated() {
            add(
                pulls: Int(clamping: number(.pulls, name)), thousandths: number(.rewards, name),
                to: .variant(index))
        }
        add(
            pulls: Int(clamping: number(.pulls, Self.holdoutName)),
            thousandths: number(.rewards, Self.holdoutName), to: .holdout)
    }

    /// The number of thousandths of a reward. Rewards are limited to 0...1, and a reward that is not a number counts as 0.
    package static func thousandths(ofReward reward: Double) -> Int64 {
        Int64(clamping: (min(max(0, reward), 1) * 1000).rounded())
    }
}
