/// The device inputs of one take (one reply to `TakeInputs`), after their texts are parsed.
package struct ParsedDeviceInputs: Sendable {
    /// A refused input.
    package struct Refusal: Equatable, Sendable {
        /// The input's index in the take, from 0.
        package let index: Int
        package let error: DeviceInputError

        package init(index: Int, error: DeviceInputError) { (self.index, self.error) = (index, error) }
    }

    /// The inputs that can be applied, in order.
    package private(set) var inputs: [DeviceInput] = []
    /// The index of each element of ``inputs`` in the take, from 0.
    package private(set) var indexes: [Int] = []
    /// The refused inputs, in order of their indexes.
    package private(set) var refusals: [Refusal] = []
    /// The number of parsed texts.
    package var count: Int { inputs.count + refusals.count }

    package init() {}

    /// Parses the next text of the take.
    package mutating func append(_ raw: [UInt8], rules: DeviceInputRules) {
        let index = count
        do throws(DeviceInputError) {
            inputs.append(try DeviceInputParser.parse(raw, rules: rules))
            indexes.append(index)
        } catch {
            refusals.append(Refusal(index: index, error: error))
        }
    }
}
