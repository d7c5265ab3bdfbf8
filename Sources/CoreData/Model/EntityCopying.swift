extension NSEntityDescription {
    /// Copies the values to `copy`, with copies of the properties and indexes.
    final func copyValues(to copy: NSEntityDescription) {
        copy.name = name
        copy.explicitClassName = explicitClassName
        copy.isAbstract = isAbstract
        copy.userInfo = userInfo
        copy.versionHashModifier = versionHashModifier
        copy.explicitRenamingIdentifier = explicitRenamingIdentifier
        copy.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        copy.uniquenessConstraintNames = uniquenessConstraintNames
        copy.compoundIndexNames = compoundIndexNames
        copy.unknownParts = unknownParts
        copy.properties = ownProperties.compactMap { $0.copy() as? NSPropertyDescription }
        copy.indexes = indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        let ownByName = Dictionary(copy.ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        for element in copy.indexes.flatMap(\.elements) {
            if let name = element.propertyName, let property = ownByName[name] { element.property = property }
        }
    }
}
