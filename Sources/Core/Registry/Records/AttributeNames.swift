/// The dictionary of a partition: attribute names and their numbers. Records and the keys of bitmaps contain the
/// numbers in place of the names.
///
/// A partition never removes a name, and never changes a number.
package struct AttributeNames: Equatable, Sendable {
    /// The largest number of names that inputs can add to a partition. Days and weeks of `seen` do not count.
    package static let limit = 10_000
    /// The largest number that a name can have.
    package static let largestNumber = 65_535

    private var numbers: [AttributeName: Int] = [:]
    private var names: [Int: AttributeName] = [:]
    /// The number of names without the days and weeks of `seen`.
    private var limited = 0
    private var highest = 0

    package init() {}

    /// Reads the fields of the hash `names`. Fields whose values are not numbers of 1...65,535 are left out, and so is the second
    /// of two names with the same number.
    package init(fields: some Sequence<(String, String)>) {
        for (name, number) in fields {
            guard let number = Int(foreign: number) else { continue }
            insert(AttributeName(text: name), number: number)
        }
    }

    package var count: Int { numbers.count }

    /// All names with their numbers, in no particular order.
    package var all: some Collection<(key: AttributeName, value: Int)> { numbers }

    package func number(of name: AttributeName) -> Int? { numbers[name] }
    package func name(of number: Int) -> AttributeName? { names[number] }

    /// The numbers of names, in their order; nil if a name has no number.
    package func numbers(of names: some Collection<AttributeName>) -> [Int]? {
        var found: [Int] = []
        found.reserveCapacity(names.count)
        for name in names {
            guard let number = numbers[name] else { return nil }
            found.append(number)
        }
        return found
    }

    /// The number of the name, which is added if it is new; nil if the dictionary is full.
    package mutating func add(_ name: AttributeName) -> Int? {
        if let number = numbers[name] { return number }
        guard limited < Self.limit || name.isSeen, highest < Self.largestNumber else { return nil }
        insert(name, number: highest + 1)
        return highest
    }

    /// Adds all new names; adds none if the dictionary has no room for all of them.
    ///
    /// - Returns: the first name for which there is no room; nil if all names have numbers now.
    mutating func add(all names: some Sequence<AttributeName>) -> AttributeName? {
        var room = Self.limit - limited
        var numbersLeft = Self.largestNumber - highest
        let missing = names.filter { numbers[$0] == nil }
        for name in missing {
            if !name.isSeen { room -= 1 }
            numbersLeft -= 1
            guard room >= 0, numbersLeft >= 0 else { return name }
        }
        for name in missing { _ = add(name) }
        return nil
    }

    private mutating func insert(_ name: AttributeName, number: Int) {
        guard (1...Self.largestNumber).contains(number), numbers[name] == nil, names[number] == nil else {
            return
        }
        numbers[name] = number
        names[number] = name
        highest = max(highest, number)
        if !name.isSeen { limited += 1 }
    }
}
